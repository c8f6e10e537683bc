// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// The words of a dense tensor that the values of packages are multiplied by. A package is the values
// of a block, the first in the lowest bits, and a byte with a bit for each place of the block.
module ithaca_select #(
    parameter integer BITS = 8,              // of a word
    parameter integer BLOCK = 4,             // places of a block
    parameter integer VALUES = 2,            // values of a package
    parameter integer WORDS = 4,             // dense ones, of whole blocks
    parameter integer BLOCKS = WORDS / BLOCK
) (
    input  wire [BLOCKS*(VALUES*BITS+8)-1:0] packages,
    input  wire [WORDS*BITS-1:0]             words,    // a word for each place
    output wire [BLOCKS*VALUES*BITS-1:0]     chosen    // a word for each value
);
    genvar b;
    generate
        for (b = 0; b < BLOCKS; b = b + 1) begin : blocks
            wire [BLOCK-1:0] places = packages[b*(VALUES*BITS+8)+VALUES*BITS+:BLOCK];
            wire [BLOCK*BITS-1:0] word = words[b*BLOCK*BITS+:BLOCK*BITS];
            reg [VALUES*BITS-1:0] found;
            reg [3:0] value;                 // values in places before
            integer p, v;
            always @* begin
                found = {VALUES * BITS{1'b0}};
                value = 4'd0;
                for (p = 0; p < BLOCK; p = p + 1) begin
                    for (v = 0; v < VALUES; v = v + 1)
                        if (places[p] && value == 4'(v))
                            found[v*BITS+:BITS] = found[v*BITS+:BITS] | word[p*BITS+:BITS];
                    value = value + {3'd0, places[p]};
                end
            end
            assign chosen[b*VALUES*BITS+:VALUES*BITS] = found;
        end
    endgenerate
    wire unused = &packages;
endmodule
