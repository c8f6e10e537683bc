// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A bit that is high about three quarters of the time, or always; for the bench.
module ithaca_random (
    input  wire        clk,
    input  wire        rst,
    input  wire [31:0] seed,                 // 0: always high
    output reg         high
);
    reg [31:0] state;
    wire [31:0] a = state ^ (state << 13);
    wire [31:0] b = a ^ (a >> 17);
    always @(posedge clk)
        if (rst) begin
            state <= seed;
            high <= 1'b1;
        end else begin
            state <= b ^ (b << 5);
            high <= seed == 0 || state[9:8] != 2'b00;
        end
endmodule
