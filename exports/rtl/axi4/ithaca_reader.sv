// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Reads a tensor that lies row by row in memory, as packs in the order of an array's stream. Elements
// of the padded tensor that do not exist are zeros, and are not read. Bursts are asked for as long as
// there is room for what comes, so that no word ever waits in memory's interconnect.
module ithaca_reader #(
    parameter integer BITS = 8,              // of an element
    parameter integer PACK = 1,              // elements of a pack
    parameter integer PACKS = 1,             // in a run of the array
    parameter integer DATA = 64,             // bits of a beat
    parameter integer DIMS = 1,
    parameter integer AXES = 1,
    parameter [32*AXES-1:0] COUNTS = 1,
    parameter [32*(DIMS+1)*AXES-1:0] STEPS = 0,
    parameter [32*(DIMS+1)-1:0] FIRST = 0,
    parameter [32*DIMS-1:0] BEGINS = 0,
    parameter [32*DIMS-1:0] ENDS = 1,
    parameter integer RUN = 1
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire                 start,
    input  wire [63:0]          base,
    output wire                 busy,
    output wire                 failed,      // memory answers with an error
    output wire                 arvalid,
    input  wire                 arready,
    output wire [63:0]          araddr,
    output wire [7:0]           arlen,
    input  wire                 rvalid,
    output wire                 rready,
    input  wire [DATA-1:0]      rdata,
    input  wire [1:0]           rresp,
    input  wire                 rlast,
    output wire                 out_valid,
    input  wire                 out_ready,
    output wire [PACK*BITS-1:0] out_data
);
    localparam integer WIDTH = $clog2(RUN + 1);
    localparam integer BYTES = DATA / 8;
    localparam integer ELEMENTS = DATA / BITS;
    localparam integer PLACE = ELEMENTS > 1 ? $clog2(ELEMENTS) : 1;
    localparam integer COUNT = $clog2(ELEMENTS + 1);
    localparam integer SPAN = WIDTH + $clog2(BITS / 8) + 1 > 8 ? WIDTH + $clog2(BITS / 8) + 1 : 8;
    localparam integer RUN_BEATS = (RUN * (BITS / 8) + BYTES - 1) / BYTES + 1;
    localparam integer PAGE_BEATS = 4096 / BYTES < 256 ? 4096 / BYTES : 256;
    localparam integer LONGEST = RUN_BEATS < PAGE_BEATS ? RUN_BEATS : PAGE_BEATS;
    localparam integer ROOM = LONGEST > 64 ? 2 << $clog2(LONGEST) : 128;  // beats

    wire run_valid, cut_room, ask_room;
    wire [31:0] place;
    wire [WIDTH-1:0] absent, count;
    ithaca_runs #(
        .DIMS(DIMS), .AXES(AXES), .COUNTS(COUNTS), .STEPS(STEPS), .FIRST(FIRST),
        .BEGINS(BEGINS), .ENDS(ENDS), .RUN(RUN)
    ) runs (
        .clk(clk), .rst(rst), .start(start), .valid(run_valid), .ready(cut_room && ask_room),
        .place(place), .absent(absent), .count(count)
    );

    // ask
    wire ask_valid, ask_ready, issue, bursting;
    wire [31:0] ask_place;
    wire [WIDTH-1:0] ask_count;
    wire [8:0] beats;
    reg [$clog2(ROOM):0] room;               // beats
    ithaca_fifo #(.BITS(32 + WIDTH)) ask (
        .clk(clk), .rst(rst), .in_valid(run_valid && cut_room), .in_ready(ask_room),
        .in_data({place, count}), .out_valid(ask_valid), .out_ready(ask_ready),
        .out_data({ask_place, ask_count})
    );
    ithaca_bursts #(.BYTES(BYTES), .LONGEST(LONGEST), .WIDTH(SPAN)) bursts (
        .clk(clk), .rst(rst), .in_valid(ask_valid), .in_ready(ask_ready),
        .in_address(base + (64'(ask_place) << $clog2(BITS / 8))),
        .in_count(SPAN'(ask_count) << $clog2(BITS / 8)),
        .room(room >= ($clog2(ROOM) + 1)'(LONGEST)), .issue(issue), .beats(beats),
        .valid(arvalid), .ready(arready), .address(araddr), .length(arlen), .busy(bursting)
    );

    // what comes
    wire beat_valid, beat_ready;
    wire [DATA-1:0] beat;
    assign rready = 1'b1;
    assign failed = rvalid && rresp != 2'b00;
    ithaca_queue #(.BITS(DATA), .WORDS(ROOM)) queue (
        .clk(clk), .rst(rst), .in_valid(rvalid), .in_data(rdata),
        .out_valid(beat_valid), .out_ready(beat_ready), .out_data(beat)
    );
    always @(posedge clk)
        if (rst) room <= ($clog2(ROOM) + 1)'(ROOM);
        else
            room <= room - (issue ? ($clog2(ROOM) + 1)'(beats) : 0)
                + ($clog2(ROOM) + 1)'(beat_valid && beat_ready);

    // pieces of beats, and zeros
    wire cut_valid, cut_ready, piece_valid, piece_room, exists;
    wire [PLACE-1:0] cut_place, from;
    wire [WIDTH-1:0] cut_before, cut_count;
    wire [COUNT-1:0] elements;
    ithaca_fifo #(.BITS(PLACE + 2 * WIDTH), .DEPTH(ROOM)) cuts (
        .clk(clk), .rst(rst), .in_valid(run_valid && ask_room), .in_ready(cut_room),
        .in_data({PLACE'((32'(base >> $clog2(BITS / 8)) + place) % ELEMENTS), absent, count}),
        .out_valid(cut_valid), .out_ready(cut_ready), .out_data({cut_place, cut_before, cut_count})
    );
    wire step = piece_valid && piece_room && (!exists || beat_valid);
    ithaca_cut #(.ELEMENTS(ELEMENTS), .RUN(RUN)) cut (
        .clk(clk), .rst(rst), .in_valid(cut_valid), .in_ready(cut_ready), .in_place(cut_place),
        .in_before(cut_before), .in_count(cut_count), .valid(piece_valid), .step(step),
        .exists(exists), .count(elements), .place(from)
    );
    assign beat_ready = step && exists;      // a piece ends with its beat, or its run
    wire [DATA-1:0] mask = ~({DATA{1'b1}} << (elements * BITS));
    wire join_valid, join_ready;
    wire [COUNT-1:0] join_count;
    wire [DATA-1:0] join_data;
    ithaca_fifo #(.BITS(DATA + COUNT)) pieces (
        .clk(clk), .rst(rst), .in_valid(step), .in_ready(piece_room),
        .in_data({exists ? (beat >> (from * BITS)) & mask : {DATA{1'b0}}, elements}),
        .out_valid(join_valid), .out_ready(join_ready), .out_data({join_data, join_count})
    );

    // packs
    localparam integer HELD = PACK + ELEMENTS;
    localparam integer FILL = $clog2(HELD + 1);
    reg [HELD*BITS-1:0] held;
    reg [FILL-1:0] fill;
    assign out_valid = fill >= FILL'(PACK);
    assign out_data = held[PACK*BITS-1:0];
    wire pop = out_valid && out_ready;
    wire [FILL-1:0] rest = pop ? fill - FILL'(PACK) : fill;
    assign join_ready = rest < FILL'(PACK);
    wire take = join_valid && join_ready;
    reg [31:0] left;                         // packs
    assign busy = left != 0 || bursting;
    always @(posedge clk)
        if (rst) begin
            held <= {HELD * BITS{1'b0}};
            fill <= {FILL{1'b0}};
            left <= 0;
        end else begin
            held <= (pop ? held >> (PACK * BITS) : held)
                | (take ? (HELD * BITS)'(join_data) << (rest * BITS) : {HELD * BITS{1'b0}});
            fill <= rest + (take ? FILL'(join_count) : {FILL{1'b0}});
            left <= start ? PACKS : left - 32'(pop);
        end
    wire unused = &{1'b0, rlast, beats};
endmodule
