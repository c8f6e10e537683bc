// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A module without a buffer on the way to the PEs: hands its own words on, then passes the others.
module ithaca_split #(
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
    output wire            out_valid,
    input  wire            out_ready,
    output wire [BITS-1:0] out_data,
    output wire            next_valid,
    input  wire            next_ready,
    output wire [BITS-1:0] next_data
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
    wire out_room, next_room;
    assign in_ready = own ? out_room : next_room;
    wire take = in_valid && in_ready;
    always @(posedge clk)
        if (rst || (take && turn == every - WIDTH'(1))) turn <= {WIDTH{1'b0}};
        else if (take) turn <= turn + 1'b1;

    ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) out (
        .clk(clk), .rst(rst),
        .in_valid(take && own), .in_ready(out_room), .in_data(in_data),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );
    generate
        if (BEHIND == 0) begin : end_of_chain
            assign next_room = 1'b0;
            assign next_valid = 1'b0;
            assign next_data = {BITS{1'b0}};
            wire unused = next_ready;
        end else begin : chain
            ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) next (
                .clk(clk), .rst(rst),
                .in_valid(take && !own), .in_ready(next_room), .in_data(in_data),
                .out_valid(next_valid), .out_ready(next_ready), .out_data(next_data)
            );
        end
    endgenerate
endmodule
