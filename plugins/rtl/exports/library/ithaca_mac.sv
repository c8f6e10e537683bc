// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Multiplies words and adds the products to an accumulator; a free-running pipeline of STAGES
// registers, the last of which holds the sum. With SUMS = 1 it adds up the products of all lanes,
// else every lane has an accumulator of its own.
module ithaca_mac #(
    parameter integer BITS = 8,              // of a factor
    parameter integer EXPONENT = 0,          // bits of it in a factor; 0: integers
    parameter integer SUM = 32,              // bits of a sum
    parameter integer FACTORS = 2,           // of a product
    parameter integer LANES = 1,
    parameter integer SUMS = 1,
    parameter integer HELD = 1,              // accumulators of each sum
    parameter integer STAGES = 4,            // at least 2
    parameter integer APART = 1,             // turns from one with an accumulator to the next
    parameter integer LATER = 0,             // 1: what is given is added to the finished sum,
                                             // 0: what is given is what the sum begins with
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
    // Stages: EARLY, MULTIPLY, ADD for each level of the TREE, ADD for the accumulator, LAST. Where
    // there are too few, levels of the tree and the last addition take none. An integer addition
    // takes one; of floating point all take as many as they can have.
    localparam integer WIDE = EXPONENT == 0 ? 0 : SUM > BITS ? 8 : EXPONENT;
    localparam integer LEVELS = $clog2(LANES / SUMS);
    localparam integer EVEN = (STAGES - 1) / (LEVELS + 1 + LATER);
    localparam integer MOST = EVEN < APART ? EVEN : APART;
    localparam integer ADD = EXPONENT == 0 || MOST < 1 ? 1 : MOST;
    localparam integer LAST = EXPONENT != 0 && LATER != 0 && STAGES > 2 * ADD ? ADD : 0;
    localparam integer MADE = STAGES - ADD - LAST;  // the stage in which products are added up
    localparam integer TREE = LEVELS < (MADE - 1) / ADD ? LEVELS : (MADE - 1) / ADD;
    localparam integer LEFT = MADE - TREE * ADD;
    localparam integer MULTIPLY = EXPONENT == 0 ? 1 : LEFT - LEFT % (FACTORS - 1);
    localparam integer EARLY = LEFT > MULTIPLY ? EXPONENT == 0 ? 1 : LEFT - MULTIPLY : 0;
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
                    genvar f;
                    for (f = 0; f < FACTORS; f = f + 1) begin : factor
                        assign word[f*BITS+:BITS] = words[(f*LANES+s*(LANES/SUMS)+n)*BITS+:BITS];
                    end
                    ithaca_product #(
                        .BITS(BITS), .EXPONENT(EXPONENT), .SUM(SUM), .FACTORS(FACTORS), .CYCLES(MULTIPLY)
                    ) multiply (
                        .clk(clk), .factors(word), .product(products[n*SUM+:SUM])
                    );
                end else begin : zero
                    assign products[n*SUM+:SUM] = {SUM{1'b0}};
                end
            end
            ithaca_tree #(
                .BITS(SUM), .EXPONENT(WIDE), .LEVELS(LEVELS), .REGISTERS(TREE), .CYCLES(ADD)
            ) tree (
                .clk(clk), .in(products), .out(added[s*SUM+:SUM])
            );
        end
    endgenerate
    wire [SUMS*SUM-1:0] late, other;
    ithaca_delay #(.BITS(SUMS * SUM), .CYCLES(LEFT - MULTIPLY - EARLY)) tail (
        .clk(clk), .in(added), .out(late)
    );

    // the accumulator is read in stage MADE, and written ADD - 1 later
    wire fresh, now;
    ithaca_delay #(.BITS(1), .CYCLES(MADE)) begins (.clk(clk), .in(first), .out(fresh));
    ithaca_delay #(.BITS(1), .CYCLES(MADE + ADD - 1)) ends (.clk(clk), .in(valid), .out(now));
    wire [SUMS*SUM-1:0] held, sum, whole;
    generate
        if (HELD == 1) begin : one
            reg [SUMS*SUM-1:0] accumulator;
            always @(posedge clk) if (now) accumulator <= sum;
            assign held = accumulator;
            wire unused = place[0];
        end else begin : several
            wire [PLACE-1:0] soon, here;
            ithaca_delay #(.BITS(PLACE), .CYCLES(MADE - 1)) ahead (
                .clk(clk), .in(place), .out(soon)
            );
            ithaca_delay #(.BITS(PLACE), .CYCLES(ADD)) at (.clk(clk), .in(soon), .out(here));
            ithaca_ram #(.STYLE(RAM), .BITS(SUMS * SUM), .WORDS(HELD), .FORWARD(1)) accumulators (
                .clk(clk),
                .write(now), .write_place(here), .write_data(sum),
                .read_place(soon), .read_data(held)
            );
        end
        for (s = 0; s < SUMS; s = s + 1) begin : adders
            wire [SUM-1:0] begun = LATER != 0 ? {SUM{1'b0}} : other[s*SUM+:SUM];
            ithaca_add #(.BITS(SUM), .EXPONENT(WIDE), .CYCLES(ADD - 1)) accumulate (
                .clk(clk), .a(fresh ? begun : held[s*SUM+:SUM]), .b(late[s*SUM+:SUM]),
                .sum(sum[s*SUM+:SUM])
            );
        end
        if (LATER == 0) begin : at_first
            ithaca_delay #(.BITS(SUMS * SUM), .CYCLES(MADE)) beside (
                .clk(clk), .in(more), .out(other)
            );
            assign whole = sum;
        end else begin : at_last
            localparam integer WAIT = LAST > 0 ? LAST - 1 : 0;
            wire [SUMS*SUM-1:0] own;
            ithaca_delay #(.BITS(SUMS * SUM), .CYCLES(STAGES - 1 - WAIT)) beside (
                .clk(clk), .in(more), .out(other)
            );
            ithaca_delay #(.BITS(SUMS * SUM), .CYCLES(LAST > 0 ? 1 : 0)) register (
                .clk(clk), .in(sum), .out(own)
            );
            for (s = 0; s < SUMS; s = s + 1) begin : adders
                ithaca_add #(.BITS(SUM), .EXPONENT(WIDE), .CYCLES(WAIT)) add (
                    .clk(clk), .a(own[s*SUM+:SUM]), .b(other[s*SUM+:SUM]), .sum(whole[s*SUM+:SUM])
                );
            end
        end
    endgenerate
    always @(posedge clk) sums <= whole;
endmodule
