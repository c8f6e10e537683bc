// An array for matrix multiplication, dataflow [i,k]: A is held by every PE, B is handed along i, sums along k.

module top;
  parameter NX = 2, NY = 2, A = 1, B = 1, C = 1, TRIPS = 8, SUMS = 8, TILES = 8, VISITS = 2, MOST = 10000000;
  localparam ROUNDS = TILES / VISITS;
  logic clk = 0, rst = 1;
  integer cycle = 0, taken = 0;
  // to the chains of buffers of A, and along them; to the buffers of B; along rows and columns of PEs; along the collectors
  logic [NY-1:0] w_push, w_pop, w_avail, w_full, bi_push, bi_pop, bi_avail, bi_full;
  logic [NX*NY-1:0] ai_push, ai_pop, ai_avail, ai_full, a_push, a_avail, a_full, b_push, b_avail, b_full, fire;
  logic [NX*NY-1:0] c_pop, c_avail, c_full;
  logic [NX-1:0] l_push, l_pop, l_avail, l_full;
  wire out_pop = !rst && l_avail[0];
  assign l_pop[0] = out_pop;

  source #(TILES * NX * NY * A) a_dram (clk, rst, w_full[0], w_push[0]);
  source #(TILES * NY * B) b_dram (clk, rst, bi_full[0], bi_push[0]);
  genvar x, y;
  generate
    for (y = 0; y < NY; y = y + 1) begin : columns
      wire a_next, a_pass, b_next, b_pass;
      fifo way (clk, rst, w_push[y], w_pop[y], w_avail[y], w_full[y]);
      split #(NX * A, (NY - 1 - y) * NX * A) l2 (clk, rst, w_avail[y], ai_full[y], a_next, w_pop[y], ai_push[y], a_pass);
      fifo link (clk, rst, bi_push[y], bi_pop[y], bi_avail[y], bi_full[y]);
      buffer #(B, (NY - 1 - y) * B, TRIPS, TILES) l2_b (clk, rst, bi_avail[y], b_next, b_full[y], bi_pop[y], b_pass, b_push[y]);
      if (y + 1 < NY) begin
        assign a_next = w_full[y+1]; assign w_push[y+1] = a_pass;
        assign b_next = bi_full[y+1]; assign bi_push[y+1] = b_pass;
      end else begin assign a_next = 1; assign b_next = 1; end
    end
    for (x = 0; x < NX; x = x + 1) begin : rows
      wire next_avail, next_pop;
      fifo link (clk, rst, l_push[x], l_pop[x], l_avail[x], l_full[x]);
      collector #(TRIPS * VISITS, C, (NX - 1 - x) * C) out (clk, rst, c_avail[(NY-1)*NX+x], next_avail, l_full[x],
          c_pop[(NY-1)*NX+x], next_pop, l_push[x]);
      if (x + 1 < NX) begin assign next_avail = l_avail[x+1]; assign l_pop[x+1] = next_pop; end
      else assign next_avail = 0;
      for (y = 0; y < NY; y = y + 1) begin : pes
        wire next_full, next_push, sum, room;
        fifo ai (clk, rst, ai_push[x*NY+y], ai_pop[x*NY+y], ai_avail[x*NY+y], ai_full[x*NY+y]);
        buffer #(A, (NX - 1 - x) * A, TRIPS, TILES) l1 (clk, rst, ai_avail[x*NY+y], next_full, a_full[y*NX+x], ai_pop[x*NY+y],
            next_push, a_push[y*NX+x]);
        if (x + 1 < NX) begin assign next_full = ai_full[(x+1)*NY+y]; assign ai_push[(x+1)*NY+y] = next_push; end
        else assign next_full = 1;
        fifo a (clk, rst, a_push[y*NX+x], fire[y*NX+x], a_avail[y*NX+x], a_full[y*NX+x]);
        fifo b (clk, rst, b_push[x*NY+y], fire[y*NX+x], b_avail[x*NY+y], b_full[x*NY+y]);
        fifo c (clk, rst, fire[y*NX+x], c_pop[y*NX+x], c_avail[y*NX+x], c_full[y*NX+x]);
        if (y > 0) begin assign sum = c_avail[(y-1)*NX+x]; assign c_pop[(y-1)*NX+x] = fire[y*NX+x]; end
        else assign sum = 1;
        if (x + 1 < NX) begin assign room = !b_full[(x+1)*NY+y]; assign b_push[(x+1)*NY+y] = fire[y*NX+x]; end
        else assign room = 1;
        assign fire[y*NX+x] = !rst && a_avail[y*NX+x] && b_avail[x*NY+y] && sum && room && !c_full[y*NX+x];
      end
    end
  endgenerate

  initial begin
    #1 clk = 1; #1 clk = 0; rst = 0;
    while (taken < ROUNDS * NX * C && cycle < MOST) begin
      #1;
      if (out_pop) taken = taken + 1;
      cycle = cycle + 1;
      clk = 1; #1 clk = 0;
    end
    $display("%0d", cycle);
    $finish;
  end
endmodule
