// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A module without a buffer on the way from the PEs: sends its own words, then passes the others.
module ithaca_merge #(
    parameter integer BITS = 8,
    parameter integer PACKS = 1,             // words of a buffer
    parameter integer OWN = 1,               // buffers in its chain
    parameter integer BEHIND = 0,            // modules behind
    parameter integer HOP = 2,
    parameter integer DEPTH = 2,
    parameter integer RUN_TIME = 0           // 1: by sizes, what is stated is the most
) (
    input  wire            clk,
    input  wire            rst,
    input  wire [31:0]     sizes,            // of the layer: packs
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
    localparam integer WIDTH = $clog2(OWN * (BEHIND + 1) * PACKS) + 1;
    wire [WIDTH-1:0] times, all_times;
    wire [WIDTH-1:0] own_words = RUN_TIME != 0 ? times : WIDTH'(OWN * PACKS);
    wire [WIDTH-1:0] every = RUN_TIME != 0 ? all_times : WIDTH'(OWN * (BEHIND + 1) * PACKS);
    ithaca_times #(.BITS(WIDTH), .BY(RUN_TIME != 0 ? OWN : 0)) multiple (.in(sizes), .out(times));
    ithaca_times #(.BITS(WIDTH), .BY(RUN_TIME != 0 ? OWN * (BEHIND + 1) : 0)) whole (
        .in(sizes), .out(all_times)
    );
    wire unused_sizes = &{1'b0, own_words};
    reg [WIDTH-1:0] turn;
    wire own = BEHIND == 0 || turn < own_words;
    wire room;
    assign in_ready = own && room;
    assign next_ready = !own && room;
    wire send = own ? in_valid && room : next_valid && room;
    always @(posedge clk)
        if (rst || (send && turn == every - WIDTH'(1))) turn <= {WIDTH{1'b0}};
        else if (send) turn <= turn + 1'b1;

    ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) out (
        .clk(clk), .rst(rst),
        .in_valid(send), .in_ready(room), .in_data(own ? in_data : next_data),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );
endmodule
