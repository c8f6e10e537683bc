// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Written by Ithaca.
//
// The PE of cout[r][c][o] += cin[r+p][c+q][o] * w[p][q][o], design [r] cout

module array_pe #(
    parameter integer w_LAST = 0,
    parameter RAM_STYLE = "auto"
) (
    input  wire clk,
    input  wire rst,
    input  wire        cin_valid,
    output wire        cin_ready,
    input  wire [31:0] cin_data,
    input  wire        w_valid,
    output wire        w_ready,
    input  wire [31:0] w_data,
    output wire        w_next_valid,
    input  wire        w_next_ready,
    output wire [31:0] w_next_data,
    output wire         cout_drain_valid,
    input  wire         cout_drain_ready,
    output wire [127:0] cout_drain_data
);
    // a turn: every word is there, and there is room for each that leaves
    wire turn, gives, takes, cout_drain_room;
    wire w_room;
    generate
        if (w_LAST == 0) begin : w_hands_on
            ithaca_fifo #(.BITS(32), .DEPTH(2), .STAGES(1)) fifo (
                .clk(clk), .rst(rst),
                .in_valid(turn), .in_ready(w_room), .in_data(w_data),
                .out_valid(w_next_valid), .out_ready(w_next_ready),
                .out_data(w_next_data)
            );
        end else begin : w_ends
            assign w_room = 1'b1;
            assign w_next_valid = 1'b0;
            assign w_next_data = 32'd0;
            wire unused = w_next_ready;
        end
    endgenerate
    assign turn = cin_valid && w_valid && w_room && (!gives || cout_drain_room);
    assign cin_ready = turn;
    assign w_ready = turn;

    // loops of turns: tiles that add to a sum, blocks of sums, visits of a sum, what hides latency
    localparam integer TILE = 3, VISIT = 1;
    wire [3:0] first, last;
    wire [3:0] place;
    ithaca_walk #(
        .AXES(4), .COUNTS({32'd1, 32'd4, 32'd399, 32'd4}), .STEPS({-32'd15, 32'd1, -32'd3, 32'd1}), .FIRST(0),
        .BITS(4)
    ) walk (
        .clk(clk), .rst(rst), .sizes(288'd0), .step(turn), .place(place), .first(first), .last(last)
    );
    assign gives = last[TILE] && last[VISIT];
    assign takes = 1'b0;
    wire unused = takes;
    wire unused_walk = &{1'b0, first, last};

    wire [127:0] sums;
    ithaca_mac #(
        .BITS(8), .EXPONENT(0), .SUM(32), .FACTORS(2), .LANES(4),
        .SUMS(4), .HELD(16), .STAGES(4), .APART(4), .LATER(0),
        .RAM(RAM_STYLE)
    ) mac (
        .clk(clk), .valid(turn), .first(first[TILE] && first[VISIT]), .place(place),
        .factors({w_data, cin_data}),
        .more(128'd0), .sums(sums)
    );
    ithaca_fifo #(
        .BITS(128), .DEPTH(2), .LATE(4), .STAGES(0)
    ) cout_drain_fifo (
        .clk(clk), .rst(rst),
        .in_valid(turn && gives), .in_ready(cout_drain_room), .in_data(sums),
        .out_valid(cout_drain_valid), .out_ready(cout_drain_ready), .out_data(cout_drain_data)
    );
endmodule
