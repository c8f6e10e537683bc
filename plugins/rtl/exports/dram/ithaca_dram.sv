// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// One memory behind all AXI4 masters, for the bench: so many that read, and one that writes. So many
// cycles pass from a burst's address to its first beat, or from the last beat that is written to the
// answer. All share so many bytes per cycle, whole beats in turn; each master gets or gives a beat per
// cycle at most.
/* verilator lint_off BLKSEQ */
/* verilator lint_off UNUSEDSIGNAL */
module ithaca_dram #(
    parameter integer READS = 2,
    parameter integer BYTES = 65536,         // a power of two
    parameter [32*(READS+1)-1:0] WIDTHS = 8  // bytes of a beat of each; the one that writes is last
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [31:0]          latency,
    input  wire [31:0]          bandwidth,   // bytes per cycle; 0: no limit
    input  wire [31:0]          seed,        // of random stalls; 0: none
    input  wire [READS-1:0]     arvalid,
    output wire [READS-1:0]     arready,
    input  wire [64*READS-1:0]  araddr,
    input  wire [8*READS-1:0]   arlen,
    output reg  [READS-1:0]     rvalid,
    input  wire [READS-1:0]     rready,
    output reg  [512*READS-1:0] rdata,
    output reg  [READS-1:0]     rlast,
    input  wire                 awvalid,
    output wire                 awready,
    input  wire [63:0]          awaddr,
    input  wire [7:0]           awlen,
    input  wire                 wvalid,
    output wire                 wready,
    input  wire [511:0]         wdata,
    input  wire [63:0]          wstrb,
    input  wire                 wlast,
    output reg                  bvalid,
    input  wire                 bready,
    output wire                 idle
);
    localparam integer QUEUE = 64;           // bursts of a master
    reg [7:0] bytes[0:BYTES-1];

    wire [3*READS+2:0] high;
    genvar g;
    generate
        for (g = 0; g < 3 * READS + 3; g = g + 1) begin : randoms
            ithaca_random random (
                .clk(clk), .rst(rst), .seed(32'(seed == 0 ? 0 : seed + 101 * (g + 1))), .high(high[g])
            );
        end
    endgenerate

    // bursts of all masters, with the cycle from which on they are served
    reg [63:0] at[0:(READS+1)*QUEUE-1];
    reg [8:0] left[0:(READS+1)*QUEUE-1];
    reg [31:0] since[0:(READS+1)*QUEUE-1];
    reg [31:0] put[0:READS], take[0:READS];
    // beats that are to be written, and the answers that are due
    reg [1:0] lasts;
    reg [511:0] beats[0:1];
    reg [63:0] strobes[0:1];
    reg [31:0] offered, written;
    reg [31:0] due[0:QUEUE-1];
    reg [31:0] answered, ended;
    reg [31:0] now, turn;
    reg [31:0] credit;                       // bytes
    wire [31:0] most = bandwidth > 64 ? bandwidth : 64;

    generate
        for (g = 0; g < READS; g = g + 1) begin : readies
            assign arready[g] = !rst && high[g] && put[g] - take[g] < QUEUE;
        end
    endgenerate
    assign awready = !rst && high[READS] && put[READS] - take[READS] < QUEUE
        && put[READS] - answered < QUEUE;
    assign wready = !rst && high[READS+1] && offered - written < 2;
    wire full = offered != written;

    integer m, n, k, slot, place, width;
    reg blocked, pending, waiting;
    reg [31:0] left_credit;
    always @(posedge clk)
        if (rst) begin
            for (m = 0; m <= READS; m = m + 1) begin
                put[m] <= 0;
                take[m] <= 0;
            end
            rvalid <= {READS{1'b0}};
            bvalid <= 1'b0;
            {answered, ended, now, turn, credit, offered, written} <= 224'd0;
        end else begin
            now <= now + 1;
            for (m = 0; m <= READS; m = m + 1)
                if (m < READS ? arvalid[m%READS] && arready[m%READS] : awvalid && awready) begin
                    slot = m * QUEUE + put[m] % QUEUE;
                    at[slot] <= m < READS ? araddr[64*(m%READS)+:64] : awaddr;
                    left[slot] <= 9'd1 + (m < READS ? {1'b0, arlen[8*(m%READS)+:8]} : {1'b0, awlen});
                    since[slot] <= m < READS ? now + latency : now;
                    put[m] <= put[m] + 1;
                end
            if (wvalid && wready) begin
                lasts[offered[0]] <= wlast;
                beats[offered[0]] <= wdata;
                strobes[offered[0]] <= wstrb;
                offered <= offered + 1;
            end
            for (m = 0; m < READS; m = m + 1) if (rready[m]) rvalid[m] <= 1'b0;

            // beats, in turn, until the bytes of this cycle are used up
            left_credit = credit + bandwidth > most ? most : credit + bandwidth;
            blocked = 1'b0;
            for (n = 0; n <= READS; n = n + 1) begin
                m = (turn + n) % (READS + 1);
                slot = m * QUEUE + take[m] % QUEUE;
                width = WIDTHS[32*m+:32];
                waiting = put[m] != take[m] && now - since[slot] < 32'h80000000;
                pending = !blocked && waiting && (m < READS
                    ? (!rvalid[m%READS] || rready[m%READS]) && high[READS+2+m%READS] : full);
                if (pending && bandwidth != 0 && left_credit < width) begin
                    blocked = 1'b1;
                    turn <= m;
                end else if (pending) begin
                    if (bandwidth != 0) left_credit = left_credit - width;
                    place = at[slot][31:0] & ~(width - 1);
                    for (k = 0; k < 64; k = k + 1)
                        if (k < width && m < READS)
                            rdata[512*(m%READS)+8*k+:8] <= bytes[(place+k)%BYTES];
                        else if (k < width && strobes[written[0]][k])
                            bytes[(place+k)%BYTES] <= beats[written[0]][8*k+:8];
                    if (m < READS) begin
                        rvalid[m%READS] <= 1'b1;
                        rlast[m%READS] <= left[slot] == 9'd1;
                    end else begin
                        written <= written + 1;
                        if (lasts[written[0]]) begin
                            due[ended%QUEUE] <= now + latency;
                            ended <= ended + 1;
                        end
                    end
                    at[slot] <= {32'd0, place + width};
                    left[slot] <= left[slot] - 9'd1;
                    if (left[slot] == 9'd1) take[m] <= take[m] + 1;
                end
            end
            if (!blocked) turn <= (turn + 1) % (READS + 1);
            credit <= left_credit;

            if (bready) bvalid <= 1'b0;
            if ((!bvalid || bready) && ended != answered && high[2*READS+2]
                && now - due[answered%QUEUE] < 32'h80000000) begin
                bvalid <= 1'b1;
                answered <= answered + 1;
            end
        end
    reg nothing;
    always @* begin
        nothing = !full && !bvalid && !(|rvalid) && ended == answered;
        for (k = 0; k <= READS; k = k + 1) nothing = nothing && put[k] == take[k];
    end
    assign idle = nothing;
endmodule
/* verilator lint_on UNUSEDSIGNAL */
/* verilator lint_on BLKSEQ */
