// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A product of signed words, to the width of a sum.
module ithaca_product #(
    parameter integer BITS = 8,
    parameter integer SUM = 32,
    parameter integer FACTORS = 2
) (
    input  wire [FACTORS*BITS-1:0] factors,
    output wire [SUM-1:0]          product
);
    localparam integer WIDE = FACTORS * BITS > SUM ? FACTORS * BITS : SUM;
    wire signed [BITS-1:0] word = factors[(FACTORS-1)*BITS+:BITS];
    wire signed [WIDE-1:0] whole;
    generate
        if (FACTORS == 2) begin : pair
            wire signed [BITS-1:0] other = factors[0+:BITS];
            assign whole = word * other;
        end else begin : more
            wire signed [(FACTORS-1)*BITS-1:0] others;
            ithaca_product #(.BITS(BITS), .SUM((FACTORS - 1) * BITS), .FACTORS(FACTORS - 1)) rest (
                .factors(factors[(FACTORS-1)*BITS-1:0]), .product(others)
            );
            assign whole = word * others;
        end
        if (WIDE > SUM) begin : cut
            wire unused = &{1'b0, whole[WIDE-1:SUM]};
        end
    endgenerate
    assign product = whole[SUM-1:0];
endmodule
