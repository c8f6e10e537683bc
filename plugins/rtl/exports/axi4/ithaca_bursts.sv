// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// The bursts of runs of bytes: whole beats, as many as a run has, but at most LONGEST, and none
// beyond a border of 4 KiB.
module ithaca_bursts #(
    parameter integer BYTES = 8,             // of a beat
    parameter integer LONGEST = 256,         // beats
    parameter integer WIDTH = 8              // bits of a number of bytes
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             in_valid,
    output wire             in_ready,
    input  wire [63:0]      in_address,
    input  wire [WIDTH-1:0] in_count,        // bytes; 0: no burst
    input  wire             room,            // the next one may be asked for
    output wire             issue,           // and is, of so many beats
    output wire [8:0]       beats,
    output reg              valid,
    input  wire             ready,
    output reg  [63:0]      address,
    output reg  [7:0]       length,          // beats but one
    output wire             busy
);
    localparam integer OFFSET = $clog2(BYTES);
    localparam integer PAGE = 12 - OFFSET;   // bits of a beat's number in 4 KiB
    localparam integer BEATS = WIDTH + 1;    // bits of a number of beats
    localparam integer WIDE = BEATS > PAGE + 1 ? BEATS : PAGE + 1;
    reg [63-OFFSET:0] at;
    reg [WIDE-1:0] left;                     // beats
    wire [WIDE-1:0] page = (WIDE'(1) << PAGE) - WIDE'(at[PAGE-1:0]);
    wire [WIDE-1:0] least = left < page ? left : page;
    wire [WIDE-1:0] now = least < WIDE'(LONGEST) ? least : WIDE'(LONGEST);
    wire active = left != {WIDE{1'b0}};
    assign issue = active && room && (!valid || ready);
    assign beats = 9'(now);
    assign in_ready = !active || (issue && left == now);
    assign busy = active || valid;
    wire [WIDTH:0] reach = (WIDTH + 1)'(in_address[OFFSET-1:0]) + (WIDTH + 1)'(in_count);
    wire [WIDTH:0] whole = (reach + (WIDTH + 1)'(BYTES - 1)) >> OFFSET;
    always @(posedge clk)
        if (rst) begin
            valid <= 1'b0;
            left <= {WIDE{1'b0}};
        end else begin
            if (issue) begin
                valid <= 1'b1;
                address <= {at, {OFFSET{1'b0}}};
                length <= 8'(now - 1'b1);
            end else if (ready) valid <= 1'b0;
            if (in_valid && in_ready) begin
                at <= in_address[63:OFFSET];
                left <= in_count == {WIDTH{1'b0}} ? {WIDE{1'b0}} : WIDE'(whole);
            end else if (issue) begin
                at <= at + (64 - OFFSET)'(now);
                left <= left - now;
            end
        end
endmodule
