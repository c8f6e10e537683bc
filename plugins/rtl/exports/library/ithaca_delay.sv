// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A word, so many cycles later.
module ithaca_delay #(
    parameter integer BITS = 1,
    parameter integer CYCLES = 1
) (
    input  wire            clk,
    input  wire [BITS-1:0] in,
    output wire [BITS-1:0] out
);
    generate
        if (CYCLES == 0) begin : now
            assign out = in;
            wire unused = clk;
        end else begin : later
            reg [CYCLES*BITS-1:0] words;
            always @(posedge clk) words <= (CYCLES * BITS)'({words, in});
            assign out = words[(CYCLES-1)*BITS+:BITS];
        end
    endgenerate
endmodule
