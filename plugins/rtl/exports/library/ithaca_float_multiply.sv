// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A product of floating-point numbers, in no cycle; how it rounds is said in ithaca_float_round.
module ithaca_float_multiply #(
    parameter integer BITS = 32,
    parameter integer EXPONENT = 8           // bits of it
) (
    input  wire [BITS-1:0] a,
    input  wire [BITS-1:0] b,
    output wire [BITS-1:0] product
);
    localparam integer FRACTION = BITS - 1 - EXPONENT;
    localparam integer SIZE = 2 * FRACTION + 2;
    localparam signed [EXPONENT+1:0] BIAS = (1 << (EXPONENT - 1)) - 1;

    wire [EXPONENT-1:0] first = a[FRACTION+:EXPONENT];
    wire [EXPONENT-1:0] second = b[FRACTION+:EXPONENT];
    wire nan_a = &first && a[FRACTION-1:0] != 0;
    wire nan_b = &second && b[FRACTION-1:0] != 0;
    wire zero = first == 0 || second == 0;
    wire infinite = &first || &second;
    wire [SIZE-1:0] whole = SIZE'({1'b1, a[FRACTION-1:0]}) * SIZE'({1'b1, b[FRACTION-1:0]});
    wire [SIZE-1:0] normal = whole[SIZE-1] ? whole : whole << 1;
    ithaca_float_round #(.BITS(BITS), .EXPONENT(EXPONENT)) round (
        .sign(a[BITS-1] ^ b[BITS-1]),
        .exponent(
            $signed({2'b00, first}) + $signed({2'b00, second}) - BIAS
            + $signed((EXPONENT + 2)'(whole[SIZE-1]))
        ),
        .fraction(normal[SIZE-2-:FRACTION]), .half(normal[FRACTION]), .rest(|normal[FRACTION-1:0]),
        .zero(zero), .infinite(infinite), .invalid(nan_a || nan_b || (infinite && zero)),
        .number(product)
    );
    wire unused = normal[SIZE-1];            // the leading one
endmodule
