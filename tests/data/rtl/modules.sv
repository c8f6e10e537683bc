// Modules of systolic arrays for matrix multiplication, as a designer writes their control: every module a counter, every
// channel a FIFO with registered output. Words carry no data: what is counted is cycles. Clock cycle 0 is the first after
// reset; a word is visible two cycles after it was pushed, room one cycle after it was made.

module fifo (input logic clk, rst, push, pop, output logic avail, full);
  logic [1:0] count;  // three words: two beside the one on its way
  logic fresh;
  assign full = count == 3;
  assign avail = count > {1'b0, fresh};
  always_ff @(posedge clk)
    if (rst) {count, fresh} <= 0;
    else begin
      count <= count + {1'b0, push} - {1'b0, pop};
      fresh <= push;
    end
endmodule

module source #(parameter TOTAL = 1) (input logic clk, rst, full, output logic push);
  integer n;
  assign push = !rst && !full && n < TOTAL;
  always_ff @(posedge clk) if (rst) n <= 0; else if (push) n <= n + 1;
endmodule

// A doubled buffer: fills from the chain and passes on what is others', feeds a PE.
module buffer #(parameter WORDS = 1, REST = 0, TRIPS = 1, TILES = 1) (
    input logic clk, rst, in_avail, next_full, feed_full, output logic in_pop, next_push, feed_push);
  integer n, t, filled;
  logic started, full, idle;  // one half is full; the other is fed from no more
  wire own = n < WORDS;
  assign in_pop = started && !full && filled < TILES && in_avail && (own || !next_full);
  assign next_push = in_pop && !own;
  assign feed_push = !rst && !idle && !feed_full;
  always_ff @(posedge clk)
    if (rst) begin
      n <= 0; t <= 0; filled <= 0; started <= 0; full <= 0; idle <= 1;
    end else begin
      started <= 1;
      if (in_pop) begin
        n <= n == WORDS + REST - 1 ? 0 : n + 1;
        if (n == WORDS + REST - 1) begin full <= 1; filled <= filled + 1; end
      end
      if (feed_push) begin
        t <= t == TRIPS - 1 ? 0 : t + 1;
        if (t == TRIPS - 1) idle <= 1;
      end
      if (full && idle) begin full <= 0; idle <= 0; end
    end
endmodule

module pe #(parameter TRIPS = 1, VISITS = 1, SUMS = 1, LAST_A = 0, LAST_B = 0) (
    input logic clk, rst, a_avail, b_avail, a_full, b_full, c_full, output logic fire, give);
  integer t, visit;
  wire gives = visit == VISITS - 1 && t >= TRIPS - SUMS;
  assign fire = !rst && a_avail && b_avail && (LAST_A != 0 || !a_full) && (LAST_B != 0 || !b_full) && (!gives || !c_full);
  assign give = fire && gives;
  always_ff @(posedge clk)
    if (rst) begin t <= 0; visit <= 0; end
    else if (fire) begin
      t <= t == TRIPS - 1 ? 0 : t + 1;
      if (t == TRIPS - 1) visit <= visit == VISITS - 1 ? 0 : visit + 1;
    end
endmodule

// Takes sums from a PE (TAKE; 0: there is none), sends its own, passes on what comes after it in the chain. Without a PE its
// own comes from the head of a chain.
module drain #(parameter TAKE = 0, OWN = 1, REST = 0) (
    input logic clk, rst, pe_avail, next_avail, out_full, output logic pe_pop, next_pop, out_push);
  integer n;
  wire taking = n < TAKE, sending = !taking && n < TAKE + OWN;
  wire take = !rst && taking && pe_avail;
  wire send = !rst && sending && !out_full && (TAKE != 0 || pe_avail);
  assign next_pop = !rst && !taking && !sending && next_avail && !out_full;
  assign pe_pop = take || (send && TAKE == 0);
  assign out_push = send || next_pop;
  always_ff @(posedge clk)
    if (rst) n <= 0;
    else if (take || out_push) n <= n == TAKE + OWN + REST - 1 ? 0 : n + 1;
endmodule

// A module without a buffer: the first words of every tile are its chain's, it passes on the rest.
module split #(parameter OWN = 1, REST = 0) (
    input logic clk, rst, in_avail, own_full, next_full, output logic in_pop, own_push, next_push);
  integer n;
  wire own = n < OWN;
  assign in_pop = !rst && in_avail && (own ? !own_full : !next_full);
  assign own_push = in_pop && own;
  assign next_push = in_pop && !own;
  always_ff @(posedge clk) if (rst) n <= 0; else if (in_pop) n <= n == OWN + REST - 1 ? 0 : n + 1;
endmodule

// A doubled buffer that takes sums from a PE, and sends its own and what comes after it in the chain.
module collector #(parameter TAKE = 1, OWN = 1, REST = 0) (
    input logic clk, rst, pe_avail, next_avail, out_full, output logic pe_pop, next_pop, out_push);
  integer t, n;
  logic full, idle;
  wire own = n < OWN;
  assign pe_pop = !rst && !full && pe_avail;
  assign next_pop = !rst && !idle && !own && next_avail && !out_full;
  assign out_push = (!rst && !idle && own && !out_full) || next_pop;
  always_ff @(posedge clk)
    if (rst) begin
      t <= 0; n <= 0; full <= 0; idle <= 1;
    end else begin
      if (pe_pop) begin
        t <= t == TAKE - 1 ? 0 : t + 1;
        if (t == TAKE - 1) full <= 1;
      end
      if (out_push) begin
        n <= n == OWN + REST - 1 ? 0 : n + 1;
        if (n == OWN + REST - 1) idle <= 1;
      end
      if (full && idle) begin full <= 0; idle <= 0; end
    end
endmodule
