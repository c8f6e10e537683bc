// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// The buffer of an outer tile in a module beside memory: takes all its words, then sends words. At
// its port they come or leave row by row, at the modules behind it in the order of tiles.
module ithaca_outer #(
    parameter integer BITS = 8,              // of a pack
    parameter integer WORDS = 2,             // packs that it holds
    parameter integer INWARDS = 1,           // 1: of a tensor that is read; 0: of the output
    parameter integer AXES = 1,              // the order of the modules behind
    parameter [32*AXES-1:0] COUNTS = 1,
    parameter [32*AXES-1:0] STEPS = 1,
    parameter integer FIRST = 0,
    parameter RAM = "auto",
    parameter integer HOP = 2,
    parameter integer DEPTH = 2
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            in_valid,
    output wire            in_ready,
    input  wire [BITS-1:0] in_data,
    output wire            out_valid,
    input  wire            out_ready,
    output wire [BITS-1:0] out_data
);
    localparam integer PLACE = WORDS > 1 ? $clog2(WORDS) : 1;
    reg sending;
    wire room, take_ends, send_ends;
    assign in_ready = !sending;
    wire take = in_valid && in_ready;
    wire send = sending && room;
    always @(posedge clk)
        if (rst) sending <= 1'b0;
        else if (sending ? send && send_ends : take && take_ends) sending <= !sending;

    // at the port
    reg [PLACE-1:0] row;
    wire row_ends = row == PLACE'(WORDS - 1);
    wire row_steps = INWARDS != 0 ? take : send;
    wire [PLACE-1:0] row_next = row_ends ? {PLACE{1'b0}} : row + 1'b1;
    always @(posedge clk)
        if (rst) row <= {PLACE{1'b0}};
        else if (row_steps) row <= row_next;

    // at the modules behind
    wire [PLACE-1:0] place;
    wire [AXES-1:0] unused, last;
    ithaca_walk #(
        .AXES(AXES), .COUNTS(COUNTS), .STEPS(STEPS), .FIRST(FIRST), .BITS(PLACE)
    ) walk (
        .clk(clk), .rst(rst), .sizes({32*(2*AXES+1){1'b0}}), .step(INWARDS != 0 ? send : take),
        .place(place), .first(unused), .last(last)
    );
    assign take_ends = INWARDS != 0 ? row_ends : &last;
    assign send_ends = INWARDS != 0 ? &last : row_ends;

    // what leaves at the port is read ahead
    wire [BITS-1:0] data;
    ithaca_ram #(.STYLE(RAM), .BITS(BITS), .WORDS(WORDS), .FORWARD(1 - INWARDS)) ram (
        .clk(clk),
        .write(take), .write_place(INWARDS != 0 ? row : place), .write_data(in_data),
        .read_place(INWARDS != 0 ? place : send ? row_next : row), .read_data(data)
    );
    generate
        if (INWARDS != 0) begin : inwards
            ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .LATE(1), .STAGES(HOP - 2)) out (
                .clk(clk), .rst(rst),
                .in_valid(send), .in_ready(room), .in_data(data),
                .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
            );
        end else begin : outwards
            assign room = out_ready;
            assign out_valid = sending;
            assign out_data = data;
        end
    endgenerate
endmodule
