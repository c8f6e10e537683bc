// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A buffer, of one or two banks, that adds up what the last PE of a chain gives: one side takes, the
// other sends tiles and passes those of the modules behind. They swap, or follow each other, as in a
// feeder. Words are read ahead, so that one stands at the port in every cycle of sending; the first
// of a single bank, which is still read for the last sum, is kept beside it.
module ithaca_collector #(
    parameter integer BITS = 32,             // of a sum
    parameter integer EXPONENT = 0,          // bits of it; 0: integers
    parameter integer PACK = 1,              // sums that leave at a time
    parameter integer WORD = 1,              // sums that PEs give at a time
    parameter integer PACKS = 2,             // of a tile
    parameter integer BANKS = 2,             // 2: doubled, 1: single
    parameter integer BEHIND = 0,            // modules behind
    parameter integer AGAIN = 1,             // tiles that are added up
    parameter integer AXES = 1,              // the order in which PEs give words
    parameter [32*AXES-1:0] COUNTS = 1,
    parameter [32*AXES-1:0] STEPS = 1,
    parameter integer FIRST = 0,
    parameter RAM = "auto",
    parameter integer HOP = 2,
    parameter integer DEPTH = 2,
    parameter integer DIRECT = 0,            // 1: words leave without a channel, at DRAM
    parameter integer RUN_TIME = 0           // 1: by sizes, what is stated is the most
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [32*(2*AXES+3)-1:0] sizes,   // of the layer: again, packs, those of the order
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

    reg taken, sending, bank;                // bank: the one that takes

    // take: read, and add a cycle later
    assign in_ready = !taken && !(BANKS == 1 && sending);
    wire take = in_valid && in_ready;
    wire take_ends, rounds_end, unused, unused_round;
    wire done = take && take_ends && rounds_end;
    wire swap = BANKS == 1 ? done : taken && !sending;
    wire [PLACE+PART-1:0] place;
    wire [AXES-1:0] unused_first, last;
    assign take_ends = &last;
    ithaca_walk #(
        .AXES(AXES), .COUNTS(COUNTS), .STEPS(STEPS), .FIRST(FIRST), .BITS(PLACE + PART),
        .RUN_TIME(RUN_TIME)
    ) walk (
        .clk(clk), .rst(rst), .sizes(sizes[0+:32*(2*AXES+1)]), .step(take), .place(place), .first(unused_first), .last(last)
    );
    ithaca_walk #(.COUNTS(AGAIN), .STEPS(0), .RUN_TIME(RUN_TIME)) rounds (
        .clk(clk), .rst(rst), .sizes({64'd0, sizes[64*(AXES+1)+:32]}), .step(take && take_ends), .place(unused), .first(unused_round),
        .last(rounds_end)
    );
    reg adding, begins, fresh;               // begins: the first tile, which replaces what is there
    reg [PLACE+PART-1:0] added;
    reg [WORD*BITS-1:0] word;
    always @(posedge clk) begin
        adding <= take && !rst;
        fresh <= begins;
        added <= place;
        word <= in_data;
        if (rst) begin
            begins <= 1'b1;
            taken <= 1'b0;
        end else begin
            if (take && take_ends) begins <= rounds_end;
            if (swap) taken <= 1'b0;
            else if (done) taken <= 1'b1;
        end
    end

    // send
    reg [WIDTH-1:0] turn;                    // packs sent
    wire own = BEHIND == 0 || turn < WIDTH'(packs);
    wire there = sending && (own || next_valid);
    wire room;
    assign next_ready = sending && !own && room;
    wire send = there && room;
    wire send_ends = send && turn == every - WIDTH'(1);
    wire [WIDTH-1:0] following = turn + 1'b1;
    always @(posedge clk)
        if (rst) begin
            sending <= 1'b0;
            bank <= 1'b0;
            turn <= {WIDTH{1'b0}};
        end else if (swap) begin
            sending <= 1'b1;
            bank <= BANKS == 2 && !bank;
        end else if (send_ends) begin
            sending <= 1'b0;
            turn <= {WIDTH{1'b0}};
        end else if (send) turn <= following;

    wire [PLACE-1:0] ahead = swap ? {PLACE{1'b0}} : send ? following[PLACE-1:0] : turn[PLACE-1:0];

    wire [PARTS-1:0] parts;
    wire [WORD*BITS-1:0] earlier;
    reg last_bank;                           // where the word that is added belongs
    always @(posedge clk) last_bank <= bank;
    localparam integer SECOND = (BANKS - 1) * PACK * BITS;
    wire [BANKS*PACK*BITS-1:0] data;
    wire [PACK*BITS-1:0] low = data[0+:PACK*BITS];
    wire [PACK*BITS-1:0] high = data[SECOND+:PACK*BITS];
    wire [PACK*BITS-1:0] sums = last_bank ? high : low;
    wire [PACK*BITS-1:0] sent;
    generate
        if (PARTS == 1) begin : whole
            assign parts = 1'b1;
            assign earlier = sums;
        end else begin : some
            assign parts = PARTS'(1) << added[PART-1:0];
            assign earlier = sums[added[PART-1:0]*(WORD*BITS)+:WORD*BITS];
        end
    endgenerate
    wire [WORD*BITS-1:0] sum;
    wire [PACK*BITS-1:0] leaves;
    genvar n, b;
    generate
        for (n = 0; n < WORD; n = n + 1) begin : adders
            ithaca_add #(.BITS(BITS), .EXPONENT(EXPONENT)) add (
                .clk(clk), .a(word[n*BITS+:BITS]), .b(fresh ? {BITS{1'b0}} : earlier[n*BITS+:BITS]),
                .sum(sum[n*BITS+:BITS])
            );
        end
        for (b = 0; b < BANKS; b = b + 1) begin : banks
            ithaca_ram #(.STYLE(RAM), .BITS(WORD * BITS), .PARTS(PARTS), .WORDS(PACKS), .FORWARD(1)) ram (
                .clk(clk),
                .write(adding && last_bank == b ? parts : {PARTS{1'b0}}),
                .write_place(added[PLACE+PART-1:PART]), .write_data({PARTS{sum}}),
                .read_place(
                    (BANKS == 1 ? !sending : bank == b && !swap) ? place[PLACE+PART-1:PART] : ahead
                ),
                .read_data(data[b*PACK*BITS+:PACK*BITS])
            );
        end
        if (BANKS == 1) begin : single
            // the first cycle of sending is the one in which the last sum is added
            wire first = added[PLACE+PART-1:PART] == {PLACE{1'b0}};
            wire [PACK*BITS-1:0] current;
            reg [PACK*BITS-1:0] kept;
            for (n = 0; n < PARTS; n = n + 1) begin : words
                assign current[n*WORD*BITS+:WORD*BITS] =
                    first && parts[n] ? sum : kept[n*WORD*BITS+:WORD*BITS];
            end
            always @(posedge clk) if (adding) kept <= current;
            assign sent = adding ? current : data;
        end else begin : doubled
            assign sent = bank ? low : high;
        end
        if (BEHIND == 0) begin : end_of_chain
            assign leaves = sent;
            wire unused_data = &{1'b0, next_data};
        end else begin : chain
            assign leaves = own ? sent : next_data;
        end
        if (DIRECT != 0) begin : direct
            assign out_valid = there;
            assign room = out_ready;
            assign out_data = leaves;
        end else begin : behind
            ithaca_fifo #(.BITS(PACK * BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) out (
                .clk(clk), .rst(rst),
                .in_valid(there), .in_ready(room), .in_data(leaves),
                .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
            );
        end
    endgenerate
endmodule
