// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A memory with one port to write parts of words, and one to read words a cycle later. With FORWARD
// a word that is written and read in one cycle is read as written.
module ithaca_ram #(
    parameter integer BITS = 8,              // of a part
    parameter integer PARTS = 1,             // of a word
    parameter integer WORDS = 2,
    parameter integer FORWARD = 0,
    /* verilator lint_off UNUSEDPARAM */
    parameter STYLE = "auto",                // of the memory: auto, block or distributed
    /* verilator lint_on UNUSEDPARAM */
    parameter integer PLACE = WORDS > 1 ? $clog2(WORDS) : 1
) (
    input  wire                  clk,
    input  wire [PARTS-1:0]      write,
    input  wire [PLACE-1:0]      write_place,
    input  wire [PARTS*BITS-1:0] write_data,
    input  wire [PLACE-1:0]      read_place,
    output wire [PARTS*BITS-1:0] read_data
);
    // Yosys finds no block RAM for a single word of several parts
    localparam integer DEPTH = WORDS == 1 && PARTS > 1 ? 2 : WORDS;
    (* ram_style = STYLE *) reg [PARTS*BITS-1:0] words[0:DEPTH-1];
    reg [PARTS*BITS-1:0] data;
    integer part;
    always @(posedge clk) begin
        for (part = 0; part < PARTS; part = part + 1)
            if (write[part]) words[write_place][part*BITS+:BITS] <= write_data[part*BITS+:BITS];
        data <= words[read_place];
    end

    genvar p;
    generate
        if (FORWARD != 0) begin : forward
            reg [PARTS-1:0] hit;
            reg [PARTS*BITS-1:0] fresh;
            always @(posedge clk) begin
                hit <= write_place == read_place ? write : {PARTS{1'b0}};
                fresh <= write_data;
            end
            for (p = 0; p < PARTS; p = p + 1) begin : parts
                assign read_data[p*BITS+:BITS] = hit[p] ? fresh[p*BITS+:BITS] : data[p*BITS+:BITS];
            end
        end else begin : plain
            assign read_data = data;
        end
    endgenerate
endmodule
