// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// The sum of 2 to the power of LEVELS words; of the levels of adders the last REGISTERS take CYCLES.
module ithaca_tree #(
    parameter integer BITS = 32,
    parameter integer EXPONENT = 0,          // bits of it; 0: integers
    parameter integer LEVELS = 1,
    parameter integer REGISTERS = 1,
    parameter integer CYCLES = 1             // of an addition
) (
    input  wire                       clk,
    input  wire [(BITS<<LEVELS)-1:0]  in,
    output wire [BITS-1:0]            out
);
    generate
        if (LEVELS == 0) begin : word
            assign out = in;
            wire unused = clk;
        end else begin : adder
            localparam integer HALF = BITS << (LEVELS - 1);
            localparam integer INNER = REGISTERS > 0 ? REGISTERS - 1 : 0;
            wire [BITS-1:0] low, high;
            ithaca_tree #(
                .BITS(BITS), .EXPONENT(EXPONENT), .LEVELS(LEVELS - 1), .REGISTERS(INNER), .CYCLES(CYCLES)
            ) lower (
                .clk(clk), .in(in[HALF-1:0]), .out(low)
            );
            ithaca_tree #(
                .BITS(BITS), .EXPONENT(EXPONENT), .LEVELS(LEVELS - 1), .REGISTERS(INNER), .CYCLES(CYCLES)
            ) upper (
                .clk(clk), .in(in[2*HALF-1:HALF]), .out(high)
            );
            wire [BITS-1:0] sum;
            ithaca_add #(
                .BITS(BITS), .EXPONENT(EXPONENT), .CYCLES(REGISTERS > 0 ? CYCLES - 1 : 0)
            ) add (.clk(clk), .a(low), .b(high), .sum(sum));
            ithaca_delay #(.BITS(BITS), .CYCLES(REGISTERS > 0 ? 1 : 0)) register (
                .clk(clk), .in(sum), .out(out)
            );
        end
    endgenerate
endmodule
