// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Multiplies words and adds the products to an accumulator; a free-running pipeline of STAGES
// registers, the last of which holds the sum. With SUMS = 1 it adds up the products of all lanes,
// else every lane has an accumulator of its own.
module ithaca_mac #(
    parameter integer BITS = 8,              // of a factor
    parameter integer SUM = 32,              // bits of a sum
    parameter integer FACTORS = 2,           // of a product
    parameter integer LANES = 1,
    parameter integer SUMS = 1,
    parameter integer HELD = 1,              // accumulators of each sum
    parameter integer STAGES = 4,            // at least 2
    parameter RAM = "auto",                  // style of the accumulators
    parameter integer PLACE = HELD > 1 ? $clog2(HELD) : 1
) (
    input  wire                          clk,
    input  wire                          valid,
    input  wire                          first,    // replaces what the accumulator holds
    input  wire [PLACE-1:0]              place,    // of the accumulator
    input  wire [FACTORS*LANES*BITS-1:0] factors,
    input  wire [SUMS*SUM-1:0]           more,     // added, too
    output reg  [SUMS*SUM-1:0]           sums      // STAGES cycles later
);
    localparam integer LEVELS = $clog2(LANES / SUMS);
    localparam integer TREE = LEVELS < STAGES - 2 ? LEVELS : STAGES - 2;
    localparam integer REST = STAGES - 2 - TREE;
    localparam integer EARLY = REST > 0 ? 1 : 0;   // registers before the multipliers
    localparam integer FULL = 1 << LEVELS;

    wire [FACTORS*LANES*BITS-1:0] words;
    ithaca_delay #(.BITS(FACTORS * LANES * BITS), .CYCLES(EARLY)) operands (
        .clk(clk), .in(factors), .out(words)
    );

    wire [SUMS*SUM-1:0] added;                     // products, all lanes of a sum
    genvar s, n;
    generate
        for (s = 0; s < SUMS; s = s + 1) begin : every
            wire [FULL*SUM-1:0] products;
            for (n = 0; n < FULL; n = n + 1) begin : lane
                if (n < LANES / SUMS) begin : used
                    wire [FACTORS*BITS-1:0] word;
                    reg [SUM-1:0] register;
                    genvar f;
                    for (f = 0; f < FACTORS; f = f + 1) begin : factor
                        assign word[f*BITS+:BITS] = words[(f*LANES+s*(LANES/SUMS)+n)*BITS+:BITS];
                    end
                    wire [SUM-1:0] product;
                    ithaca_product #(.BITS(BITS), .SUM(SUM), .FACTORS(FACTORS)) multiply (
                        .factors(word), .product(product)
                    );
                    always @(posedge clk) register <= product;
                    assign products[n*SUM+:SUM] = register;
                end else begin : zero
                    assign products[n*SUM+:SUM] = {SUM{1'b0}};
                end
            end
            ithaca_tree #(.BITS(SUM), .LEVELS(LEVELS), .REGISTERS(TREE)) tree (
                .clk(clk), .in(products), .out(added[s*SUM+:SUM])
            );
        end
    endgenerate
    wire [SUMS*SUM-1:0] late, other;
    ithaca_delay #(.BITS(SUMS * SUM), .CYCLES(REST - EARLY)) tail (
        .clk(clk), .in(added), .out(late)
    );
    ithaca_delay #(.BITS(SUMS * SUM), .CYCLES(STAGES - 1)) beside (
        .clk(clk), .in(more), .out(other)
    );

    wire now, fresh;                               // in the cycle in which the sum is made
    ithaca_delay #(.BITS(2), .CYCLES(STAGES - 1)) control (
        .clk(clk), .in({valid, first}), .out({now, fresh})
    );
    wire [SUMS*SUM-1:0] held, sum;
    generate
        if (HELD == 1) begin : one
            reg [SUMS*SUM-1:0] accumulator;
            always @(posedge clk) if (now) accumulator <= sum;
            assign held = accumulator;
            wire unused = place[0];
        end else begin : several
            wire [PLACE-1:0] soon, here;
            ithaca_delay #(.BITS(PLACE), .CYCLES(STAGES - 2)) ahead (
                .clk(clk), .in(place), .out(soon)
            );
            ithaca_delay #(.BITS(PLACE), .CYCLES(1)) at (.clk(clk), .in(soon), .out(here));
            ithaca_ram #(.STYLE(RAM), .BITS(SUMS * SUM), .WORDS(HELD), .FORWARD(1)) accumulators (
                .clk(clk),
                .write(now), .write_place(here), .write_data(sum),
                .read_place(soon), .read_data(held)
            );
        end
        for (s = 0; s < SUMS; s = s + 1) begin : adders
            assign sum[s*SUM+:SUM] = (fresh ? {SUM{1'b0}} : held[s*SUM+:SUM])
                + late[s*SUM+:SUM] + other[s*SUM+:SUM];
        end
    endgenerate
    always @(posedge clk) sums <= sum;
endmodule
