// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Memory for the bench: takes the words of a plain tensor in the order in which tiles are written,
// and compares the elements that count.
module ithaca_sink #(
    parameter integer BITS = 32,             // of an element
    parameter integer PACK = 1,              // elements that come at a time
    parameter integer ROW = 1,               // of them in a row
    parameter integer GAP = 1,               // from one of a row to the next
    parameter integer ROWS = 1,              // from one row to the next
    parameter integer SIZE = 1,              // elements of the tensor
    parameter integer BURST = 0,             // cycles that it takes to open a row of a tile
    parameter integer LINE = 1,              // packs of such a row
    parameter integer AXES = 1,
    parameter [32*AXES-1:0] COUNTS = 1,
    parameter [32*AXES-1:0] STEPS = 1,
    parameter integer FIRST = 0,
    parameter FILE = "C.hex"                 // in front of each element a digit: 1 if it counts
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [31:0]          seed,        // of random stalls; 0: none
    input  wire [31:0]          runs,
    input  wire                 valid,
    output wire                 ready,
    input  wire [PACK*BITS-1:0] data,
    output wire                 ends,        // takes the last word of the last run
    output reg  [31:0]          right,
    output reg  [31:0]          wrong
);
    reg [BITS+3:0] words[0:SIZE-1];
    initial $readmemh(FILE, words);

    wire high, open;
    ithaca_random random (.clk(clk), .rst(rst), .seed(seed), .high(high));
    assign ready = high && open;
    wire take = valid && ready;
    ithaca_opens #(.BURST(BURST), .LINE(LINE)) opens (
        .clk(clk), .rst(rst), .waits(valid), .moves(take), .open(open)
    );
    wire [31:0] place;
    wire [AXES-1:0] unused, last;
    ithaca_walk #(
        .AXES(AXES), .COUNTS(COUNTS), .STEPS(STEPS), .FIRST(FIRST), .BITS(32)
    ) walk (
        .clk(clk), .rst(rst), .sizes({32*(2*AXES+1){1'b0}}), .step(take), .place(place), .first(unused), .last(last)
    );
    reg [31:0] left;
    assign ends = take && &last && left == 1;

    reg [31:0] hits, misses;
    reg [BITS+3:0] word;
    integer n;
    always @* begin
        hits = 0;
        misses = 0;
        word = 0;
        for (n = 0; n < PACK; n = n + 1) begin
            word = words[place+(n/ROW)*ROWS+(n%ROW)*GAP];
            if (word[BITS] && word[BITS-1:0] === data[n*BITS+:BITS]) hits = hits + 1;
            else if (word[BITS]) misses = misses + 1;
        end
    end
    always @(posedge clk)
        if (rst) begin
            left <= runs;
            right <= 0;
            wrong <= 0;
        end else if (take) begin
            if (&last) left <= left - 1;
            right <= right + hits;
            wrong <= wrong + misses;
        end
endmodule
