// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// The sizes of the layer that an array runs, in registers of 32 bits.
module ithaca_sizes #(
    parameter integer COUNT = 1,
    parameter integer PLACE = COUNT > 1 ? $clog2(COUNT) : 1
) (
    input  wire                clk,
    input  wire                write,
    input  wire [PLACE-1:0]    place,
    input  wire [31:0]         data,
    output reg  [32*COUNT-1:0] sizes
);
    integer n;
    always @(posedge clk)
        for (n = 0; n < COUNT; n = n + 1)
            if (write && place == PLACE'(n)) sizes[32*n+:32] <= data;
endmodule
