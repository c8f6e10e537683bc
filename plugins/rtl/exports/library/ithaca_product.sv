// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A product of words, to the width of a sum: of signed integers, modulo it; of floating-point numbers
// in the format of sums, which are of 32 bits (fp32) or as wide as words. Factors are multiplied one
// after the other.
module ithaca_product #(
    parameter integer BITS = 8,
    parameter integer EXPONENT = 0,          // bits of it in a word; 0: integers
    parameter integer SUM = 32,
    parameter integer FACTORS = 2,
    parameter integer CYCLES = 1             // with floating point a multiple of FACTORS - 1
) (
    input  wire                    clk,
    input  wire [FACTORS*BITS-1:0] factors,
    output wire [SUM-1:0]          product
);
    generate
        if (EXPONENT == 0) begin : integers
            localparam integer WIDE = FACTORS * BITS > SUM ? FACTORS * BITS : SUM;
            wire signed [BITS-1:0] word = factors[(FACTORS-1)*BITS+:BITS];
            wire signed [WIDE-1:0] whole;
            if (FACTORS == 2) begin : pair
                wire signed [BITS-1:0] other = factors[0+:BITS];
                assign whole = word * other;
            end else begin : more
                wire signed [(FACTORS-1)*BITS-1:0] others;
                ithaca_product #(
                    .BITS(BITS), .SUM((FACTORS - 1) * BITS), .FACTORS(FACTORS - 1), .CYCLES(0)
                ) rest (
                    .clk(clk), .factors(factors[(FACTORS-1)*BITS-1:0]), .product(others)
                );
                assign whole = word * others;
            end
            if (WIDE > SUM) begin : cut
                wire unused = &{1'b0, whole[WIDE-1:SUM]};
            end
            ithaca_delay #(.BITS(SUM), .CYCLES(CYCLES)) later (
                .clk(clk), .in(whole[SUM-1:0]), .out(product)
            );
        end else begin : floats
            localparam integer WIDE = SUM > BITS ? 8 : EXPONENT;
            localparam integer EACH = CYCLES / (FACTORS - 1);
            wire [SUM-1:0] word, late, others;
            ithaca_float_widen #(
                .BITS(BITS), .EXPONENT(EXPONENT), .WIDE(SUM), .WIDE_EXPONENT(WIDE)
            ) widen (.in(factors[(FACTORS-1)*BITS+:BITS]), .out(word));
            if (FACTORS == 2) begin : pair
                ithaca_float_widen #(
                    .BITS(BITS), .EXPONENT(EXPONENT), .WIDE(SUM), .WIDE_EXPONENT(WIDE)
                ) other (.in(factors[0+:BITS]), .out(others));
            end else begin : more
                ithaca_product #(
                    .BITS(BITS), .EXPONENT(EXPONENT), .SUM(SUM), .FACTORS(FACTORS - 1),
                    .CYCLES(CYCLES - EACH)
                ) rest (
                    .clk(clk), .factors(factors[(FACTORS-1)*BITS-1:0]), .product(others)
                );
            end
            ithaca_delay #(.BITS(SUM), .CYCLES(CYCLES - EACH)) wait_for_others (
                .clk(clk), .in(word), .out(late)
            );
            ithaca_multiply #(.BITS(SUM), .EXPONENT(WIDE), .CYCLES(EACH)) multiply (
                .clk(clk), .a(late), .b(others), .product(product)
            );
        end
    endgenerate
endmodule
