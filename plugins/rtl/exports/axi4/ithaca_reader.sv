// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Reads a tensor that lies row by row in memory, as packs in the order of an array's stream, box by
// box. A box is what the inner loops of the stream visit; its rows are bursts as long as can be, asked
// for as soon as there is room for a box, and kept here until all its packs are gone. Runs of a pack
// that lie in different rows have a lane each. Elements of the padded tensor that do not exist are
// zeros, and are not read.
module ithaca_reader #(
    parameter integer BITS = 8,              // of an element
    parameter integer PACK = 1,              // elements of a pack
    parameter integer PACKS = 1,             // in a run of the array
    parameter integer DATA = 64,             // bits of a beat
    parameter integer LANES = 1,             // runs of a pack
    parameter integer ROW = 1,               // elements of a row
    parameter integer ROWS = 1,              // rows of a lane in a box
    parameter integer SKIPPED = 0,           // added to addresses, so that none is below 0
    parameter integer SIZE = 1,              // elements of the tensor
    parameter integer ROW_AXES = 1,          // loops over rows
    parameter [32*ROW_AXES-1:0] ROW_COUNTS = 1,
    parameter [64*ROW_AXES-1:0] ROW_STEPS = 0,
    parameter [63:0] ROW_FIRST = 0,
    parameter integer DIMS = 1,
    parameter [32*DIMS-1:0] BEGINS = 0,      // where the tensor begins in the padded one
    parameter [32*DIMS-1:0] ENDS = 1,        // and ends
    parameter integer INNER = 0,             // loops over packs in a box
    parameter integer AXES = 1,              // loops over packs
    parameter [32*AXES-1:0] COUNTS = 1,
    parameter [32*(DIMS+3)*AXES-1:0] STEPS = 0,  // of dimensions, element of a row, row, address
    parameter [32*(DIMS+3)-1:0] FIRST = 0,
    parameter [32*(DIMS+3)*LANES-1:0] OFFSETS = 0  // of lanes
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
    localparam integer BYTES = DATA / 8;
    localparam integer ELEMENTS = DATA / BITS;
    localparam integer SHIFT = $clog2(ELEMENTS);
    localparam integer WIDTH = $clog2(ROW + 1);
    localparam integer SPAN = WIDTH + $clog2(BITS / 8) + 1 > 8 ? WIDTH + $clog2(BITS / 8) + 1 : 8;
    localparam integer RUN = PACK / LANES;   // elements
    // a slot holds the beats of a row; those that follow each other lie in different banks
    localparam integer ROW_BEATS = (ROW + ELEMENTS - 2) / ELEMENTS + 1;
    localparam integer BANKS = 1 << $clog2((RUN + ELEMENTS - 2) / ELEMENTS + 1);
    localparam integer SLOT = 1 << $clog2(ROW_BEATS > BANKS ? ROW_BEATS : BANKS);
    localparam integer BOX = ROWS * SLOT / BANKS;  // words of a bank
    localparam integer BOXES = BOX * BANKS * LANES > 128 ? 2 : 256 / (BOX * BANKS * LANES);
    localparam integer WORDS = BOXES * BOX;
    localparam integer COUNT = $clog2(BOXES + 1);
    localparam integer BEAT = $clog2(SLOT) + 1;
    localparam integer POS = BEAT + SHIFT;   // bits of an element's number in a slot
    localparam integer ROW_BITS = $clog2(ROWS) + 1;
    localparam integer LANE = $clog2(LANES) + 1;
    localparam integer PLACE = WORDS > 1 ? $clog2(WORDS) : 1;

    wire [31:0] base_place = 32'(base >> $clog2(BITS / 8));
    reg [COUNT-1:0] begun, filled;           // boxes that are asked for, and those that are here
    wire release_box, fills_box;

    // rows: ask
    wire run_valid, ask_room, rows_room;
    wire [31:0] place;
    wire [WIDTH-1:0] absent, count;
    reg [ROW_BITS+LANE-1:0] row;             // in its box
    wire may = row != {ROW_BITS + LANE{1'b0}} || begun != COUNT'(BOXES);
    wire ask_row = run_valid && may && ask_room && rows_room;
    ithaca_runs #(
        .DIMS(1), .AXES(ROW_AXES), .COUNTS(ROW_COUNTS), .STEPS(ROW_STEPS), .FIRST(ROW_FIRST),
        .BEGINS(SKIPPED), .ENDS(SKIPPED + SIZE), .RUN(ROW)
    ) runs (
        .clk(clk), .rst(rst), .start(start), .valid(run_valid),
        .ready(may && ask_room && rows_room), .place(place), .absent(absent), .count(count)
    );
    wire last_row = row == (ROW_BITS + LANE)'(ROWS * LANES - 1);
    wire begins_box = ask_row && row == {ROW_BITS + LANE{1'b0}};
    always @(posedge clk)
        if (rst) begin
            row <= {ROW_BITS + LANE{1'b0}};
            begun <= {COUNT{1'b0}};
            filled <= {COUNT{1'b0}};
        end else begin
            if (ask_row) row <= last_row ? {ROW_BITS + LANE{1'b0}} : row + 1'b1;
            begun <= begun + COUNT'(begins_box) - COUNT'(release_box);
            filled <= filled + COUNT'(fills_box) - COUNT'(release_box);
        end

    wire ask_valid, ask_ready;
    wire [31:0] ask_place;
    wire [WIDTH-1:0] ask_count;
    wire unused_issue, unused_busy;
    wire [8:0] unused_beats;
    ithaca_fifo #(.BITS(32 + WIDTH)) ask (
        .clk(clk), .rst(rst), .in_valid(ask_row), .in_ready(ask_room), .in_data({place, count}),
        .out_valid(ask_valid), .out_ready(ask_ready), .out_data({ask_place, ask_count})
    );
    ithaca_bursts #(.BYTES(BYTES), .WIDTH(SPAN)) bursts (
        .clk(clk), .rst(rst), .in_valid(ask_valid), .in_ready(ask_ready),
        .in_address(base + (64'(ask_place) << $clog2(BITS / 8))),
        .in_count(SPAN'(ask_count) << $clog2(BITS / 8)),
        .room(1'b1), .issue(unused_issue), .beats(unused_beats),
        .valid(arvalid), .ready(arready), .address(araddr), .length(arlen), .busy(unused_busy)
    );

    // rows: fill
    wire row_valid, row_ends;
    wire [BEAT-1:0] row_beat, row_beats;
    wire [31:0] begin_place = (base_place + place - 32'(absent)) % ELEMENTS + 32'(absent);
    wire [BEAT-1:0] end_beat = BEAT'((begin_place + 32'(count) + ELEMENTS - 1) >> SHIFT);
    wire [BEAT-1:0] begin_beat = BEAT'(begin_place >> SHIFT);
    ithaca_fifo #(.BITS(2 * BEAT), .DEPTH(128)) rows (
        .clk(clk), .rst(rst), .in_valid(ask_row), .in_ready(rows_room),
        .in_data({begin_beat, count == {WIDTH{1'b0}} ? {BEAT{1'b0}} : end_beat - begin_beat}),
        .out_valid(row_valid), .out_ready(row_ends), .out_data({row_beat, row_beats})
    );
    reg [BEAT-1:0] got;                      // beats of a row
    reg [ROW_BITS-1:0] fill_row;
    reg [LANE-1:0] fill_lane;
    reg [PLACE-1:0] fill_box, read_box;
    assign rready = row_valid && row_beats != {BEAT{1'b0}};
    wire fill = rvalid && rready;
    assign failed = fill && rresp != 2'b00;
    assign row_ends = row_valid && (row_beats == {BEAT{1'b0}} || (fill && got + 1'b1 == row_beats));
    wire last_lane = fill_lane == LANE'(LANES - 1);
    assign fills_box = row_ends && last_lane && fill_row == ROW_BITS'(ROWS - 1);
    wire [BEAT-1:0] fill_beat = row_beat + got;
    wire [PLACE-1:0] fill_place =
        fill_box + PLACE'((32'(fill_row) * SLOT + 32'(fill_beat)) / BANKS);
    localparam [PLACE-1:0] LAST_BOX = PLACE'(WORDS - BOX);
    always @(posedge clk)
        if (rst) begin
            got <= {BEAT{1'b0}};
            fill_row <= {ROW_BITS{1'b0}};
            fill_lane <= {LANE{1'b0}};
            fill_box <= {PLACE{1'b0}};
            read_box <= {PLACE{1'b0}};
        end else begin
            if (fill) got <= got + 1'b1;
            if (row_ends) begin
                got <= {BEAT{1'b0}};
                fill_lane <= last_lane ? {LANE{1'b0}} : fill_lane + 1'b1;
                if (last_lane) fill_row <= fills_box ? {ROW_BITS{1'b0}} : fill_row + 1'b1;
            end
            if (fills_box) fill_box <= fill_box == LAST_BOX ? {PLACE{1'b0}} : fill_box + PLACE'(BOX);
            if (release_box)
                read_box <= read_box == LAST_BOX ? {PLACE{1'b0}} : read_box + PLACE'(BOX);
        end

    // packs: where their runs lie, and what of them exists
    localparam integer FIELDS = 32 * (DIMS + 3);
    reg walking;
    wire want_room, want_valid, take, ends_box, want_ends;
    wire [FIELDS-1:0] at;
    wire [AXES-1:0] unused_first, last;
    localparam [AXES-1:0] IN_BOX = ~({AXES{1'b1}} << INNER);
    ithaca_walk #(
        .AXES(AXES), .COUNTS(COUNTS), .STEP(FIELDS), .STEPS(STEPS), .FIRST(FIRST), .BITS(FIELDS)
    ) walk (
        .clk(clk), .rst(rst), .sizes({32*(2*AXES+1){1'b0}}), .step(walking && want_room), .place(at),
        .first(unused_first), .last(last)
    );
    assign ends_box = (last & IN_BOX) == IN_BOX;
    always @(posedge clk)
        if (rst) walking <= 1'b0;
        else if (start) walking <= 1'b1;
        else if (want_room && &last) walking <= 1'b0;
    wire [LANES*POS-1:0] pos, want_pos;
    wire [PACK-1:0] exists, want_exists;
    wire [ROW_BITS-1:0] want_row;
    genvar l, d, b;
    generate
        for (l = 0; l < LANES; l = l + 1) begin : lanes
            wire [FIELDS-1:0] own = at + OFFSETS[FIELDS*l+:FIELDS];
            wire [DIMS-1:0] outside;
            assign outside[0] = 1'b0;
            for (d = 1; d < DIMS; d = d + 1) begin : dims
                assign outside[d] =
                    own[32*d+:32] - BEGINS[32*d+:32] >= ENDS[32*d+:32] - BEGINS[32*d+:32];
            end
            wire [31:0] from = own[31:0];
            wire [31:0] skipped = $signed(from) < $signed(BEGINS[31:0]) ? BEGINS[31:0] - from : 0;
            wire [31:0] existing = from < ENDS[31:0] ? ENDS[31:0] - from : 0;
            assign exists[RUN*l+:RUN] =
                |outside ? {RUN{1'b0}} : ({RUN{1'b1}} << skipped) & ~({RUN{1'b1}} << existing);
            wire [31:0] element = own[32*DIMS+:32];
            wire [31:0] begins = base_place + own[FIELDS-1-:32] - element;
            assign pos[POS*l+:POS] = POS'(begins % ELEMENTS + element);
            wire unused_row = &{1'b0, own[32*DIMS+32+:32]};
        end
    endgenerate
    ithaca_fifo #(.BITS(1 + ROW_BITS + PACK + LANES * POS)) want (
        .clk(clk), .rst(rst), .in_valid(walking), .in_ready(want_room),
        .in_data({ends_box, ROW_BITS'(at[32*DIMS+32+:32]), exists, pos}),
        .out_valid(want_valid), .out_ready(take),
        .out_data({want_ends, want_row, want_exists, want_pos})
    );

    // packs: as soon as their beats are here
    wire out_room;
    wire [POS-1:0] reach = want_pos[POS*(LANES-1)+:POS] + POS'(RUN - 1);
    wire here = filled != {COUNT{1'b0}} || (!want_ends && (want_row < fill_row
        || (want_row == fill_row && last_lane && got != {BEAT{1'b0}}
            && BEAT'(reach >> SHIFT) < fill_beat)));
    assign take = here && out_room;
    assign release_box = want_valid && take && want_ends;
    reg [PACK-1:0] read_exists;
    reg [LANES*POS-1:0] read_pos;
    reg [PACK*BITS-1:0] pack;
    wire [PACK*BITS-1:0] read_pack;
    always @(posedge clk) begin
        read_exists <= want_exists;
        read_pos <= want_pos;
        pack <= read_pack;
    end
    generate
        for (l = 0; l < LANES; l = l + 1) begin : memories
            wire [BANKS*DATA-1:0] beats;
            wire [31:0] first_beat = 32'(want_pos[POS*l+:POS]) >> SHIFT;
            for (b = 0; b < BANKS; b = b + 1) begin : banks
                wire [31:0] beat = (first_beat + BANKS - 1 - b) / BANKS;
                ithaca_ram #(.STYLE("auto"), .BITS(DATA), .WORDS(WORDS)) ram (
                    .clk(clk),
                    .write(fill && fill_lane == LANE'(l) && 32'(fill_beat) % BANKS == b),
                    .write_place(fill_place), .write_data(rdata),
                    .read_place(read_box + PLACE'(32'(want_row) * (SLOT / BANKS) + beat)),
                    .read_data(beats[DATA*b+:DATA])
                );
            end
            // beats in a ring, from the first element of the run on
            wire [31:0] turn = 32'(read_pos[POS*l+:POS]) % (BANKS * ELEMENTS);
            wire [RUN*BITS-1:0] run = (RUN * BITS)'({beats, beats} >> (turn * BITS));
            for (b = 0; b < RUN; b = b + 1) begin : elements
                assign read_pack[(RUN*l+b)*BITS+:BITS] =
                    read_exists[RUN*l+b] ? run[b*BITS+:BITS] : {BITS{1'b0}};
            end
        end
    endgenerate
    ithaca_fifo #(.BITS(PACK * BITS), .DEPTH(2), .LATE(2), .STAGES(0)) packs (
        .clk(clk), .rst(rst), .in_valid(want_valid && here), .in_ready(out_room), .in_data(pack),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );
    reg [31:0] left;                         // packs
    assign busy = left != 0;
    always @(posedge clk)
        if (rst) left <= 0;
        else left <= start ? PACKS : left - 32'(out_valid && out_ready);
    wire unused = &{1'b0, rlast, unused_issue, unused_busy, unused_beats};
endmodule
