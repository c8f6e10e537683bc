// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A floating-point number in a format of at least its bits; a subnormal one is zero.
module ithaca_float_widen #(
    parameter integer BITS = 16,
    parameter integer EXPONENT = 5,          // bits of it
    parameter integer WIDE = 32,
    parameter integer WIDE_EXPONENT = 8
) (
    input  wire [BITS-1:0] in,
    output wire [WIDE-1:0] out
);
    localparam integer FRACTION = BITS - 1 - EXPONENT;
    localparam integer MORE = (1 << (WIDE_EXPONENT - 1)) - (1 << (EXPONENT - 1));  // bias
    wire [EXPONENT-1:0] exponent = in[FRACTION+:EXPONENT];
    wire [WIDE_EXPONENT-1:0] wide =
        &exponent ? {WIDE_EXPONENT{1'b1}} : WIDE_EXPONENT'(exponent) + WIDE_EXPONENT'(MORE);
    wire [WIDE-2-WIDE_EXPONENT:0] fraction =
        (WIDE - 1 - WIDE_EXPONENT)'(in[FRACTION-1:0]) << (WIDE - 1 - WIDE_EXPONENT - FRACTION);
    assign out = {in[BITS-1], exponent == 0 ? {WIDE - 1{1'b0}} : {wide, fraction}};
endmodule
