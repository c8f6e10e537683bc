// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A module on the way from the PEs, each with a number of words of its own: takes those of its PE into
// a buffer, sends its own, and then what comes from the modules behind. With DIRECT there is no buffer,
// and its own words leave as they come.
module ithaca_gather #(
    parameter integer BITS = 32,
    parameter integer OWN = 1,               // words
    parameter integer BEHIND = 0,
    parameter integer USED = 0,              // of its own, the first ones
    parameter integer DIRECT = 0,
    parameter RAM = "auto",
    parameter integer HOP = 2,
    parameter integer DEPTH = 2
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            in_valid,
    output wire            in_ready,
    input  wire [BITS-1:0] in_data,
    input  wire            next_valid,
    output wire            next_ready,
    input  wire [BITS-1:0] next_data,
    output wire            out_valid,
    input  wire            out_ready,
    output wire [BITS-1:0] out_data
);
    localparam integer TAKEN = DIRECT != 0 ? 0 : USED;
    localparam integer EVERY = TAKEN + OWN + BEHIND;
    localparam integer WIDTH = $clog2(EVERY + 2);
    localparam integer PLACE = OWN > 1 ? $clog2(OWN) : 1;

    reg [WIDTH-1:0] turn;
    wire [31:0] at = 32'(turn);
    wire takes = at < TAKEN;
    wire passes = at >= TAKEN + OWN;
    wire room;
    assign in_ready = DIRECT != 0 ? !passes && room : takes;
    assign next_ready = BEHIND != 0 && passes && room;
    wire send = room && (passes ? BEHIND != 0 && next_valid : DIRECT != 0 ? in_valid : !takes);
    always @(posedge clk)
        if (rst) turn <= {WIDTH{1'b0}};
        else if (send || (takes && in_valid)) turn <= at == EVERY - 1 ? {WIDTH{1'b0}} : turn + 1'b1;

    wire [BITS-1:0] word = passes ? next_data : in_data;
    generate
        if (DIRECT != 0) begin : direct
            ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) out (
                .clk(clk), .rst(rst),
                .in_valid(send), .in_ready(room), .in_data(word),
                .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
            );
        end else begin : buffered
            wire [BITS-1:0] own;
            wire [31:0] place = at - TAKEN;
            ithaca_ram #(.STYLE(RAM), .BITS(BITS), .WORDS(OWN > 0 ? OWN : 1)) ram (
                .clk(clk), .write(takes && in_valid), .write_place(at[PLACE-1:0]), .write_data(in_data),
                .read_place(place[PLACE-1:0]), .read_data(own)
            );
            reg passed;
            reg [BITS-1:0] other;
            always @(posedge clk) begin
                passed <= passes;
                other <= word;
            end
            ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .LATE(1), .STAGES(HOP - 2)) out (
                .clk(clk), .rst(rst),
                .in_valid(send), .in_ready(room), .in_data(passed ? other : own),
                .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
            );
            wire unused = &{1'b0, place};
        end
    endgenerate
endmodule
