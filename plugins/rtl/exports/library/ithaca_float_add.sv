// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A sum of floating-point numbers, in no cycle; how it rounds is said in ithaca_float_round.
module ithaca_float_add #(
    parameter integer BITS = 32,
    parameter integer EXPONENT = 8           // bits of it
) (
    input  wire [BITS-1:0] a,
    input  wire [BITS-1:0] b,
    output wire [BITS-1:0] sum
);
    localparam integer FRACTION = BITS - 1 - EXPONENT;
    localparam integer SIZE = FRACTION + 4;  // of a significand, with three bits behind it
    localparam integer SHIFT = $clog2(SIZE + 1);

    // the one of larger magnitude first
    wire swap = b[BITS-2:0] > a[BITS-2:0];
    wire [BITS-1:0] upper = swap ? b : a;
    wire [BITS-1:0] lower = swap ? a : b;
    wire [EXPONENT-1:0] exponent = upper[FRACTION+:EXPONENT];
    wire [EXPONENT-1:0] other = lower[FRACTION+:EXPONENT];
    wire [SIZE-1:0] first = {exponent != 0, upper[FRACTION-1:0], 3'b000};
    wire [SIZE-1:0] second = other == 0 ? {SIZE{1'b0}} : {1'b1, lower[FRACTION-1:0], 3'b000};
    wire differ = upper[BITS-1] != lower[BITS-1];

    // the last bit tells whether anything was shifted out
    wire [EXPONENT-1:0] apart = exponent - other;
    wire [SIZE-1:0] shifted = second >> apart;
    wire [SIZE-1:0] aligned = shifted | SIZE'((shifted << apart) != second);
    wire [SIZE:0] total = {1'b0, first} + ({SIZE + 1{differ}} ^ {1'b0, aligned}) + (SIZE + 1)'(differ);

    reg [SHIFT-1:0] zeros;                   // before the leading one
    integer n;
    always @* begin
        zeros = {SHIFT{1'b0}};
        for (n = 0; n <= SIZE; n = n + 1)
            if (total[n]) zeros = SHIFT'(SIZE - n);
    end
    wire [SIZE:0] normal = total << zeros;
    wire infinite = &exponent;
    wire nan = infinite && upper[FRACTION-1:0] != 0;
    wire both = &other;
    wire zero = total == 0;
    ithaca_float_round #(.BITS(BITS), .EXPONENT(EXPONENT)) round (
        .sign(upper[BITS-1] && !((zero || exponent == 0) && differ)),
        .exponent($signed({2'b00, exponent}) + (EXPONENT + 2)'(1) - $signed((EXPONENT + 2)'(zeros))),
        .fraction(normal[SIZE-1-:FRACTION]), .half(normal[3]), .rest(|normal[2:0]),
        .zero(zero || exponent == 0), .infinite(infinite), .invalid(nan || (both && differ)),
        .number(sum)
    );
    wire unused = normal[SIZE];              // the leading one
endmodule
