// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A buffer of finished sums: takes a tile from its PE, sends it, and passes those of the modules
// behind, one after the other.
module ithaca_drain #(
    parameter integer BITS = 32,             // of a sum
    parameter integer PACK = 1,              // sums that leave at a time
    parameter integer WORD = 1,              // sums that PEs give at a time
    parameter integer PACKS = 2,             // of a tile
    parameter integer BEHIND = 0,            // modules behind
    parameter integer AXES = 1,              // the order in which PEs give words
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
    input  wire [32*(2*AXES+2)-1:0] sizes,   // of the layer: packs, those of the order
    input  wire                 in_valid,
    output wire                 in_ready,
    input  wire [WORD*BITS-1:0] in_data,
    input  wire                 next_valid,  // from the module behind
    output wire                 next_ready,
    input  wire [PACK*BITS-1:0] next_data,
    output wire                 out_valid,
    input  wire                 out_ready,
    output wire [PACK*BITS-1:0] out_data
);
    localparam integer PLACE = PACKS > 1 ? $clog2(PACKS) : 1;
    localparam integer PARTS = PACK / WORD;
    localparam integer PART = $clog2(PARTS);
    localparam integer WIDTH = $clog2((BEHIND + 1) * PACKS) + 1;
    wire [31:0] packs = RUN_TIME != 0 ? sizes[32*(2*AXES+1)+:32] : PACKS;
    wire [WIDTH-1:0] times;
    wire [WIDTH-1:0] every = RUN_TIME != 0 ? times : WIDTH'((BEHIND + 1) * PACKS);
    ithaca_times #(.BITS(WIDTH), .BY(RUN_TIME != 0 ? BEHIND + 1 : 0)) multiple (
        .in(packs), .out(times)
    );
    wire unused_sizes = &{1'b0, sizes, packs};

    reg sending;
    reg [WIDTH-1:0] turn;                    // packs sent
    wire own = BEHIND == 0 || turn < WIDTH'(packs);
    wire room, take_ends;

    assign in_ready = !sending;
    wire take = in_valid && in_ready;
    wire [PLACE+PART-1:0] place;
    wire [AXES-1:0] unused_first, last;
    assign take_ends = &last;
    ithaca_walk #(
        .AXES(AXES), .COUNTS(COUNTS), .STEPS(STEPS), .FIRST(FIRST), .BITS(PLACE + PART),
        .RUN_TIME(RUN_TIME)
    ) walk (
        .clk(clk), .rst(rst), .sizes(sizes[0+:32*(2*AXES+1)]), .step(take), .place(place), .first(unused_first), .last(last)
    );
    wire [PARTS-1:0] parts;
    generate
        if (PARTS == 1) begin : whole
            assign parts = 1'b1;
        end else begin : some
            assign parts = PARTS'(1) << place[PART-1:0];
        end
    endgenerate

    assign next_ready = sending && !own && room;
    wire send = sending && room && (own || next_valid);
    always @(posedge clk)
        if (rst) begin
            sending <= 1'b0;
            turn <= {WIDTH{1'b0}};
        end else if (take && take_ends) sending <= 1'b1;
        else if (send && turn == every - WIDTH'(1)) begin
            sending <= 1'b0;
            turn <= {WIDTH{1'b0}};
        end else if (send) turn <= turn + 1'b1;

    wire [PACK*BITS-1:0] data, word;
    ithaca_ram #(.STYLE(RAM), .BITS(WORD * BITS), .PARTS(PARTS), .WORDS(PACKS)) ram (
        .clk(clk),
        .write(take ? parts : {PARTS{1'b0}}), .write_place(place[PLACE+PART-1:PART]),
        .write_data({PARTS{in_data}}),
        .read_place(turn[PLACE-1:0]), .read_data(data)
    );
    generate
        if (BEHIND == 0) begin : end_of_chain
            assign word = data;
            wire unused = &{1'b0, next_data};
        end else begin : chain
            reg passed;
            reg [PACK*BITS-1:0] other;
            always @(posedge clk) begin
                passed <= !own;
                other <= next_data;
            end
            assign word = passed ? other : data;
        end
    endgenerate
    ithaca_fifo #(.BITS(PACK * BITS), .DEPTH(DEPTH), .LATE(1), .STAGES(HOP - 2)) out (
        .clk(clk), .rst(rst),
        .in_valid(send), .in_ready(room), .in_data(word),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );
endmodule
