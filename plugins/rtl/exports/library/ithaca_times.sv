// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A multiple of a size, by adders.
module ithaca_times #(
    parameter integer BITS = 32,             // of the multiple
    parameter integer BY = 1
) (
    input  wire [31:0]     in,
    output reg  [BITS-1:0] out
);
    integer b;
    always @* begin
        out = {BITS{1'b0}};
        for (b = 0; b < 31; b = b + 1)
            if ((BY >> b) % 2 == 1) out = out + BITS'(in << b);
    end
    wire unused = &in;
endmodule
