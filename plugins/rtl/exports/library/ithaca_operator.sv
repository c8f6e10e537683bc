// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// An operator of floating-point numbers, by the name that Python's syntax trees have for it.
module ithaca_operator #(
    parameter KIND = "Add",                  // Add, Sub, Mult or Div
    parameter integer BITS = 32,
    parameter integer EXPONENT = 8,
    parameter integer CYCLES = 0
) (
    input  wire            clk,
    input  wire [BITS-1:0] a,
    input  wire [BITS-1:0] b,
    output wire [BITS-1:0] result
);
    generate
        if (KIND == "Mult") begin : product
            ithaca_multiply #(.BITS(BITS), .EXPONENT(EXPONENT), .CYCLES(CYCLES)) multiply (
                .clk(clk), .a(a), .b(b), .product(result)
            );
        end else if (KIND == "Div") begin : quotient
            ithaca_divide #(.BITS(BITS), .EXPONENT(EXPONENT), .CYCLES(CYCLES)) divide (
                .clk(clk), .a(a), .b(b), .quotient(result)
            );
        end else begin : sum
            wire other = b[BITS-1] ^ (KIND == "Sub");
            ithaca_add #(.BITS(BITS), .EXPONENT(EXPONENT), .CYCLES(CYCLES)) add (
                .clk(clk), .a(a), .b({other, b[BITS-2:0]}), .sum(result)
            );
        end
    endgenerate
endmodule
