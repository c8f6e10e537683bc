// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Writes the packs of an array's stream to a tensor that lies row by row in memory. Elements of the
// padded tensor that do not exist are dropped: strobes leave what lies there as it is.
module ithaca_writer #(
    parameter integer BITS = 32,             // of an element
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
    output wire                 awvalid,
    input  wire                 awready,
    output wire [63:0]          awaddr,
    output wire [7:0]           awlen,
    output wire                 wvalid,
    input  wire                 wready,
    output wire [DATA-1:0]      wdata,
    output wire [DATA/8-1:0]    wstrb,
    output wire                 wlast,
    input  wire                 bvalid,
    output wire                 bready,
    input  wire [1:0]           bresp,
    input  wire                 in_valid,
    output wire                 in_ready,
    input  wire [PACK*BITS-1:0] in_data
);
    localparam integer WIDTH = $clog2(RUN + 1);
    localparam integer BYTES = DATA / 8;
    localparam integer ELEMENTS = DATA / BITS;
    localparam integer PLACE = ELEMENTS > 1 ? $clog2(ELEMENTS) : 1;
    localparam integer COUNT = $clog2(ELEMENTS + 1);
    localparam integer SPAN = WIDTH + $clog2(BITS / 8) + 1 > 8 ? WIDTH + $clog2(BITS / 8) + 1 : 8;

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
    wire ask_valid, ask_ready, issue, bursting, lengths_room;
    wire [31:0] ask_place;
    wire [WIDTH-1:0] ask_count;
    wire [8:0] beats;
    ithaca_fifo #(.BITS(32 + WIDTH)) ask (
        .clk(clk), .rst(rst), .in_valid(run_valid && cut_room), .in_ready(ask_room),
        .in_data({place, count}), .out_valid(ask_valid), .out_ready(ask_ready),
        .out_data({ask_place, ask_count})
    );
    ithaca_bursts #(.BYTES(BYTES), .WIDTH(SPAN)) bursts (
        .clk(clk), .rst(rst), .in_valid(ask_valid), .in_ready(ask_ready),
        .in_address(base + (64'(ask_place) << $clog2(BITS / 8))),
        .in_count(SPAN'(ask_count) << $clog2(BITS / 8)),
        .room(lengths_room), .issue(issue), .beats(beats),
        .valid(awvalid), .ready(awready), .address(awaddr), .length(awlen), .busy(bursting)
    );

    // packs, and what they are cut into
    localparam integer HELD = PACK + ELEMENTS;
    localparam integer FILL = $clog2(HELD + 1);
    reg [HELD*BITS-1:0] held;
    reg [FILL-1:0] fill;
    wire cut_valid, cut_ready, piece_valid, exists, beat_room;
    wire [PLACE-1:0] cut_place, to;
    wire [WIDTH-1:0] cut_before, cut_count;
    wire [COUNT-1:0] elements;
    ithaca_fifo #(.BITS(PLACE + 2 * WIDTH), .DEPTH(14)) cuts (
        .clk(clk), .rst(rst), .in_valid(run_valid && ask_room), .in_ready(cut_room),
        .in_data({PLACE'((32'(base >> $clog2(BITS / 8)) + place) % ELEMENTS), absent, count}),
        .out_valid(cut_valid), .out_ready(cut_ready), .out_data({cut_place, cut_before, cut_count})
    );
    wire step = piece_valid && fill >= FILL'(elements) && (!exists || beat_room);
    ithaca_cut #(.ELEMENTS(ELEMENTS), .RUN(RUN)) cut (
        .clk(clk), .rst(rst), .in_valid(cut_valid), .in_ready(cut_ready), .in_place(cut_place),
        .in_before(cut_before), .in_count(cut_count), .valid(piece_valid), .step(step),
        .exists(exists), .count(elements), .place(to)
    );
    wire [FILL-1:0] rest = step ? fill - FILL'(elements) : fill;
    assign in_ready = rest < FILL'(ELEMENTS);
    wire take = in_valid && in_ready;
    reg [31:0] left;                         // packs
    reg [15:0] asked;                        // bursts without an answer
    assign busy = left != 0 || bursting || asked != 0;
    always @(posedge clk)
        if (rst) begin
            held <= {HELD * BITS{1'b0}};
            fill <= {FILL{1'b0}};
            left <= 0;
            asked <= 0;
        end else begin
            held <= (step ? held >> (elements * BITS) : held)
                | (take ? (HELD * BITS)'(in_data) << (rest * BITS) : {HELD * BITS{1'b0}});
            fill <= rest + (take ? FILL'(PACK) : {FILL{1'b0}});
            left <= start ? PACKS : left - 32'(take);
            asked <= asked + 16'(issue) - 16'(bvalid);
        end

    // beats
    wire [BYTES-1:0] mask = ~({BYTES{1'b1}} << (elements * (BITS / 8)));
    wire beat_valid, length_valid;
    wire [8:0] length;
    reg [8:0] sent;                          // beats of a burst
    wire send = wvalid && wready;
    ithaca_fifo #(.BITS(DATA + BYTES)) out (
        .clk(clk), .rst(rst), .in_valid(step && exists), .in_ready(beat_room),
        .in_data({held[DATA-1:0] << (to * BITS), mask << (to * (BITS / 8))}),
        .out_valid(beat_valid), .out_ready(send), .out_data({wdata, wstrb})
    );
    ithaca_fifo #(.BITS(9), .DEPTH(14)) lengths (
        .clk(clk), .rst(rst), .in_valid(issue), .in_ready(lengths_room), .in_data(beats),
        .out_valid(length_valid), .out_ready(send && wlast), .out_data(length)
    );
    assign wvalid = beat_valid && length_valid;
    assign wlast = sent + 9'd1 == length;
    always @(posedge clk)
        if (rst) sent <= 9'd0;
        else if (send) sent <= wlast ? 9'd0 : sent + 9'd1;
    assign bready = 1'b1;
    assign failed = bvalid && bresp != 2'b00;
endmodule
