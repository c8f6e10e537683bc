// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Memory for the bench: sends the words of a plain tensor in the order in which tiles are read.
module ithaca_source #(
    parameter integer BITS = 8,              // of an element
    parameter integer PACK = 1,              // elements that are sent at a time
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
    parameter FILE = "A.hex"
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [31:0]          seed,        // of random stalls; 0: none
    input  wire [31:0]          runs,        // times that all words are sent
    output wire                 valid,
    input  wire                 ready,
    output wire [PACK*BITS-1:0] data
);
    reg [BITS-1:0] words[0:SIZE-1];
    initial $readmemh(FILE, words);

    wire high, open;
    ithaca_opens #(.BURST(BURST), .LINE(LINE)) opens (
        .clk(clk), .rst(rst), .waits(ready), .moves(send), .open(open)
    );
    ithaca_random random (.clk(clk), .rst(rst), .seed(seed), .high(high));
    reg [31:0] left;
    reg done, offered;                       // what is offered stays until it is taken
    assign valid = !rst && !done && (offered || (high && open));
    wire send = valid && ready;
    wire [31:0] place;
    wire [AXES-1:0] unused, last;
    ithaca_walk #(
        .AXES(AXES), .COUNTS(COUNTS), .STEPS(STEPS), .FIRST(FIRST), .BITS(32)
    ) walk (
        .clk(clk), .rst(rst), .sizes({32*(2*AXES+1){1'b0}}), .step(send), .place(place), .first(unused), .last(last)
    );
    always @(posedge clk)
        if (rst) begin
            done <= 1'b0;
            left <= runs;
            offered <= 1'b0;
        end else begin
            if (send && &last) begin
                done <= left == 1;
                left <= left - 1;
            end
            offered <= valid && !ready;
        end
    genvar n;
    generate
        for (n = 0; n < PACK; n = n + 1) begin : elements
            assign data[n*BITS+:BITS] = words[place+(n/ROW)*ROWS+(n%ROW)*GAP];
        end
    endgenerate
endmodule
