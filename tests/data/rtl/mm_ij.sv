// An array for matrix multiplication, dataflow [i,j].

module top;
  parameter NX = 2, NY = 2, A = 1, B = 1, C = 1, TRIPS = 8, SUMS = 4, TILES = 8, VISITS = 2, MOST = 10000000;
  localparam ROUNDS = TILES / VISITS;
  logic clk = 0, rst = 1;
  integer cycle = 0, taken = 0;
  // into the buffers of each row and column, from them, and along rows and columns
  logic [NX-1:0] ai_push, ai_pop, ai_avail, ai_full;
  logic [NY-1:0] bi_push, bi_pop, bi_avail, bi_full;
  logic [NX*NY-1:0] a_push, a_avail, a_full, b_push, b_avail, b_full, fire;
  logic [NX*NY-1:0] c_push, c_pop, c_avail, c_full, l_push, l_pop, l_avail, l_full;
  logic [NY-1:0] w_push, w_pop, w_avail, w_full;
  wire out_pop = !rst && w_avail[0];
  assign w_pop[0] = out_pop;

  source #(TILES * NX * A) a_dram (clk, rst, ai_full[0], ai_push[0]);
  source #(TILES * NY * B) b_dram (clk, rst, bi_full[0], bi_push[0]);
  genvar x, y;
  generate
    for (x = 0; x < NX; x = x + 1) begin : rows
      wire next_full, next_push;
      fifo link (clk, rst, ai_push[x], ai_pop[x], ai_avail[x], ai_full[x]);
      buffer #(A, (NX - 1 - x) * A, TRIPS, TILES) l2 (clk, rst, ai_avail[x], next_full, a_full[x*NY], ai_pop[x], next_push,
          a_push[x*NY]);
      if (x + 1 < NX) begin assign next_full = ai_full[x+1]; assign ai_push[x+1] = next_push; end
      else assign next_full = 1;
    end
    for (y = 0; y < NY; y = y + 1) begin : columns
      wire next_full, next_push, next_avail, next_pop;
      fifo link (clk, rst, bi_push[y], bi_pop[y], bi_avail[y], bi_full[y]);
      buffer #(B, (NY - 1 - y) * B, TRIPS, TILES) l2 (clk, rst, bi_avail[y], next_full, b_full[y], bi_pop[y], next_push,
          b_push[y]);
      fifo way (clk, rst, w_push[y], w_pop[y], w_avail[y], w_full[y]);
      drain #(0, NX * C, (NY - 1 - y) * NX * C) l2_out (clk, rst, l_avail[y], next_avail, w_full[y], l_pop[y], next_pop,
          w_push[y]);
      if (y + 1 < NY) begin
        assign next_full = bi_full[y+1]; assign bi_push[y+1] = next_push;
        assign next_avail = w_avail[y+1]; assign w_pop[y+1] = next_pop;
      end else begin assign next_full = 1; assign next_avail = 0; end
    end
    for (x = 0; x < NX; x = x + 1) begin : px
      for (y = 0; y < NY; y = y + 1) begin : py
        wire a_next, b_next, next_avail, next_pop;
        fifo a (clk, rst, a_push[x*NY+y], fire[x*NY+y], a_avail[x*NY+y], a_full[x*NY+y]);
        fifo b (clk, rst, b_push[x*NY+y], fire[x*NY+y], b_avail[x*NY+y], b_full[x*NY+y]);
        fifo c (clk, rst, c_push[x*NY+y], c_pop[x*NY+y], c_avail[x*NY+y], c_full[x*NY+y]);
        fifo l (clk, rst, l_push[x*NY+y], l_pop[x*NY+y], l_avail[x*NY+y], l_full[x*NY+y]);
        pe #(TRIPS, VISITS, SUMS, y + 1 == NY, x + 1 == NX) mac (clk, rst, a_avail[x*NY+y], b_avail[x*NY+y], a_next, b_next,
            c_full[x*NY+y], fire[x*NY+y], c_push[x*NY+y]);
        drain #(SUMS, C, (NX - 1 - x) * C) l1 (clk, rst, c_avail[x*NY+y], next_avail, l_full[x*NY+y], c_pop[x*NY+y], next_pop,
            l_push[x*NY+y]);
        if (y + 1 < NY) begin assign a_next = a_full[x*NY+y+1]; assign a_push[x*NY+y+1] = fire[x*NY+y]; end
        else assign a_next = 1;
        if (x + 1 < NX) begin
          assign b_next = b_full[(x+1)*NY+y]; assign b_push[(x+1)*NY+y] = fire[x*NY+y];
          assign next_avail = l_avail[(x+1)*NY+y]; assign l_pop[(x+1)*NY+y] = next_pop;
        end else begin assign b_next = 1; assign next_avail = 0; end
      end
    end
  endgenerate

  initial begin
    #1 clk = 1; #1 clk = 0; rst = 0;
    while (taken < ROUNDS * NX * NY * C && cycle < MOST) begin
      #1;
      if (out_pop) taken = taken + 1;
      cycle = cycle + 1;
      clk = 1; #1 clk = 0;
    end
    $display("%0d", cycle);
    $finish;
  end
endmodule
