// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A buffer of a tensor that is read, of one or two banks. One side fills it and passes on what is for
// the modules behind; the other feeds PEs. With two banks they swap when both are done: in the cycle
// after, and both go on in the next. With one bank each begins in the cycle after the other's end.
module ithaca_feeder #(
    parameter integer BITS = 8,              // of an element
    parameter integer PACK = 1,              // elements that come at a time
    parameter integer WORD = 1,              // elements that PEs take at a time
    parameter integer PACKS = 2,             // of a tile
    parameter integer BANKS = 2,             // 2: doubled, 1: single
    parameter integer BEHIND = 0,            // modules behind
    parameter integer AGAIN = 1,             // times that a tile is fed
    parameter integer AXES = 1,              // the order in which PEs take words
    parameter [32*AXES-1:0] COUNTS = 1,
    parameter [32*AXES-1:0] STEPS = 1,
    parameter integer FIRST = 0,
    parameter RAM = "auto",
    parameter integer HOP = 2,
    parameter integer DEPTH = 2,
    parameter integer RUN_TIME = 0           // 1: by sizes, what is stated is the most
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [32*(2*AXES+3)-1:0] sizes,   // of the layer: again, packs, those of the order
    input  wire                 in_valid,
    output wire                 in_ready,
    input  wire [PACK*BITS-1:0] in_data,
    output wire                 next_valid,  // to the module behind
    input  wire                 next_ready,
    output wire [PACK*BITS-1:0] next_data,
    output wire                 out_valid,   // to the PE
    input  wire                 out_ready,
    output wire [WORD*BITS-1:0] out_data
);
    localparam integer PLACE = PACKS > 1 ? $clog2(PACKS) : 1;
    localparam integer PARTS = PACK / WORD;
    localparam integer PART = $clog2(PARTS);
    localparam integer WIDTH = $clog2(BEHIND * PACKS + 1) > 0 ? $clog2(BEHIND * PACKS + 1) : 1;
    wire [31:0] packs = RUN_TIME != 0 ? sizes[32*(2*AXES+1)+:32] : PACKS;
    wire [PLACE-1:0] final_pack = PLACE'(packs - 32'd1);
    wire [WIDTH-1:0] times;
    wire [WIDTH-1:0] others = RUN_TIME != 0 ? times : WIDTH'(BEHIND * PACKS);
    ithaca_times #(.BITS(WIDTH), .BY(RUN_TIME != 0 ? BEHIND : 0)) multiple (.in(packs), .out(times));
    wire unused_sizes = &{1'b0, sizes, others};

    reg begun, filled, feeding, bank;        // bank: the one that is filled
    wire pass_ends;
    wire swap = BANKS == 1 ? pass_ends : filled && !feeding;
    wire fills = begun && !filled && !(BANKS == 1 && feeding);

    // fill, then pass
    wire take = in_valid && in_ready;
    wire passing;
    reg [PLACE-1:0] fill;
    wire fill_ends = take && !passing && fill == final_pack;
    always @(posedge clk) begin
        begun <= !rst;
        if (rst) begin
            fill <= {PLACE{1'b0}};
            filled <= 1'b0;
        end else begin
            if (take && !passing) fill <= fill_ends ? {PLACE{1'b0}} : fill + 1'b1;
            if (swap) filled <= 1'b0;
            else if (pass_ends) filled <= 1'b1;
        end
    end
    generate
        if (BEHIND == 0) begin : end_of_chain
            assign passing = 1'b0;
            assign pass_ends = fill_ends;
            assign in_ready = fills;
            assign next_valid = 1'b0;
            assign next_data = {PACK * BITS{1'b0}};
            wire unused_ready = next_ready;
        end else begin : chain
            wire room;
            reg [WIDTH-1:0] left;
            assign passing = left != {WIDTH{1'b0}};
            assign pass_ends = take && left == WIDTH'(1);
            assign in_ready = fills && (!passing || room);
            always @(posedge clk)
                if (rst) left <= {WIDTH{1'b0}};
                else if (fill_ends) left <= others;
                else if (take && passing) left <= left - 1'b1;
            ithaca_fifo #(.BITS(PACK * BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) behind (
                .clk(clk), .rst(rst),
                .in_valid(take && passing), .in_ready(room), .in_data(in_data),
                .out_valid(next_valid), .out_ready(next_ready), .out_data(next_data)
            );
        end
    endgenerate

    // feed
    wire room, feed_ends;
    wire feed = feeding && room;
    wire [PLACE+PART-1:0] place;
    wire [AXES-1:0] unused_first, last;
    assign feed_ends = &last;
    ithaca_walk #(
        .AXES(AXES), .COUNTS(COUNTS), .STEPS(STEPS), .FIRST(FIRST), .BITS(PLACE + PART),
        .RUN_TIME(RUN_TIME)
    ) walk (
        .clk(clk), .rst(rst), .sizes(sizes[0+:32*(2*AXES+1)]), .step(feed), .place(place), .first(unused_first), .last(last)
    );
    wire rounds_end, unused, unused_round;
    ithaca_walk #(.COUNTS(AGAIN), .STEPS(0), .RUN_TIME(RUN_TIME)) rounds (
        .clk(clk), .rst(rst), .sizes({64'd0, sizes[64*(AXES+1)+:32]}), .step(feed && feed_ends), .place(unused), .first(unused_round),
        .last(rounds_end)
    );
    always @(posedge clk)
        if (rst) begin
            feeding <= 1'b0;
            bank <= 1'b0;
        end else if (swap) begin
            feeding <= 1'b1;
            bank <= BANKS == 2 && !bank;
        end else if (feed && feed_ends && rounds_end) feeding <= 1'b0;

    localparam integer SECOND = (BANKS - 1) * PACK * BITS;
    wire [BANKS*PACK*BITS-1:0] data;
    genvar b;
    generate
        for (b = 0; b < BANKS; b = b + 1) begin : banks
            ithaca_ram #(.STYLE(RAM), .BITS(PACK * BITS), .WORDS(PACKS)) ram (
                .clk(clk),
                .write(take && !passing && bank == b), .write_place(fill), .write_data(in_data),
                .read_place(place[PLACE+PART-1:PART]), .read_data(data[b*PACK*BITS+:PACK*BITS])
            );
        end
    endgenerate
    reg from;
    always @(posedge clk) from <= !bank;
    wire [PACK*BITS-1:0] word = from ? data[SECOND+:PACK*BITS] : data[0+:PACK*BITS];

    wire [WORD*BITS-1:0] chosen;
    generate
        if (PARTS == 1) begin : whole
            assign chosen = word;
        end else begin : parts
            reg [PART-1:0] part;
            always @(posedge clk) part <= place[PART-1:0];
            assign chosen = word[part*(WORD*BITS)+:WORD*BITS];
        end
    endgenerate
    ithaca_fifo #(.BITS(WORD * BITS), .DEPTH(DEPTH), .LATE(1), .STAGES(HOP - 2)) out (
        .clk(clk), .rst(rst),
        .in_valid(feed), .in_ready(room), .in_data(chosen),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );
endmodule
