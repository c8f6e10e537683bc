// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A floating-point number from its parts: rounded to the nearest, a tie to even. Subnormal numbers
// count as zero wherever they come or would result, and keep their sign; what is too large is
// infinite; there is one NaN, quiet and positive. So results are those of IEEE 754 but for
// subnormal ones.
module ithaca_float_round #(
    parameter integer BITS = 32,
    parameter integer EXPONENT = 8,          // bits of it
    parameter integer FRACTION = BITS - 1 - EXPONENT
) (
    input  wire                       sign,
    input  wire signed [EXPONENT+1:0] exponent,  // with its bias
    input  wire [FRACTION-1:0]        fraction,  // behind the leading one
    input  wire                       half,      // the next bit
    input  wire                       rest,      // whether there is more behind it
    input  wire                       zero,
    input  wire                       infinite,
    input  wire                       invalid,
    output wire [BITS-1:0]            number
);
    localparam signed [EXPONENT+1:0] ZERO = 0, ONE = 1;
    localparam signed [EXPONENT+1:0] INFINITE = (ONE <<< EXPONENT) - ONE;
    wire [FRACTION:0] rounded = {1'b0, fraction} + (FRACTION + 1)'(half && (rest || fraction[0]));
    wire signed [EXPONENT+1:0] final_exponent = rounded[FRACTION] ? exponent + ONE : exponent;
    // a subnormal number keeps one bit less: only the largest are rounded up to a normal one
    wire smallest = exponent == ZERO && &fraction;
    wire tiny = exponent <= ZERO && !smallest;
    wire huge = infinite || final_exponent >= INFINITE;
    assign number =
        invalid ? {1'b0, {EXPONENT{1'b1}}, 1'b1, {FRACTION - 1{1'b0}}}
        : zero || (tiny && !infinite) ? {sign, {BITS - 1{1'b0}}}
        : huge ? {sign, {EXPONENT{1'b1}}, {FRACTION{1'b0}}}
        : smallest ? {sign, EXPONENT'(1), {FRACTION{1'b0}}}
        : {sign, final_exponent[EXPONENT-1:0], rounded[FRACTION-1:0]};
endmodule
