// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Written by Ithaca.
//
// The PE of C[i][j] += A[i][k] * B[j][k], design [i,j] C

module array_pe #(
    parameter integer A_LAST = 0,
    parameter integer B_LAST = 0,
    parameter RAM_STYLE = "auto"
) (
    input  wire clk,
    input  wire rst,
    input  wire        A_valid,
    output wire        A_ready,
    input  wire [31:0] A_data,
    output wire        A_next_valid,
    input  wire        A_next_ready,
    output wire [31:0] A_next_data,
    input  wire        B_valid,
    output wire        B_ready,
    input  wire [31:0] B_data,
    output wire        B_next_valid,
    input  wire        B_next_ready,
    output wire [31:0] B_next_data,
    output wire        C_drain_valid,
    input  wire        C_drain_ready,
    output wire [31:0] C_drain_data
);
    // a turn: every word is there, and there is room for each that leaves
    wire turn, gives, takes, C_drain_room;
    wire A_room;
    generate
        if (A_LAST == 0) begin : A_hands_on
            ithaca_fifo #(.BITS(32), .DEPTH(2), .STAGES(1)) fifo (
                .clk(clk), .rst(rst),
                .in_valid(turn), .in_ready(A_room), .in_data(A_data),
                .out_valid(A_next_valid), .out_ready(A_next_ready),
                .out_data(A_next_data)
            );
        end else begin : A_ends
            assign A_room = 1'b1;
            assign A_next_valid = 1'b0;
            assign A_next_data = 32'd0;
            wire unused = A_next_ready;
        end
    endgenerate
    wire B_room;
    generate
        if (B_LAST == 0) begin : B_hands_on
            ithaca_fifo #(.BITS(32), .DEPTH(2), .STAGES(1)) fifo (
                .clk(clk), .rst(rst),
                .in_valid(turn), .in_ready(B_room), .in_data(B_data),
                .out_valid(B_next_valid), .out_ready(B_next_ready),
                .out_data(B_next_data)
            );
        end else begin : B_ends
            assign B_room = 1'b1;
            assign B_next_valid = 1'b0;
            assign B_next_data = 32'd0;
            wire unused = B_next_ready;
        end
    endgenerate
    assign turn = A_valid && A_room && B_valid && B_room && (!gives || C_drain_room);
    assign A_ready = turn;
    assign B_ready = turn;

    // loops of turns: tiles that add to a sum, blocks of sums, visits of a sum, what hides latency
    localparam integer TILE = 3, VISIT = 1;
    wire [3:0] first, last;
    wire [1:0] place;
    ithaca_walk #(
        .AXES(4), .COUNTS({32'd3, 32'd1, 32'd2, 32'd4}), .STEPS({-32'd3, 32'd1, -32'd3, 32'd1}), .FIRST(0),
        .BITS(2)
    ) walk (
        .clk(clk), .rst(rst), .sizes(288'd0), .step(turn), .place(place), .first(first), .last(last)
    );
    assign gives = last[TILE] && last[VISIT];
    assign takes = 1'b0;
    wire unused = takes;
    wire unused_walk = &{1'b0, first, last};

    wire [31:0] sums;
    ithaca_mac #(
        .BITS(8), .EXPONENT(0), .SUM(32), .FACTORS(2), .LANES(4),
        .SUMS(1), .HELD(4), .STAGES(4), .APART(4), .LATER(0),
        .RAM(RAM_STYLE)
    ) mac (
        .clk(clk), .valid(turn), .first(first[TILE] && first[VISIT]), .place(place),
        .factors({B_data, A_data}),
        .more(32'd0), .sums(sums)
    );
    ithaca_fifo #(
        .BITS(32), .DEPTH(2), .LATE(4), .STAGES(0)
    ) C_drain_fifo (
        .clk(clk), .rst(rst),
        .in_valid(turn && gives), .in_ready(C_drain_room), .in_data(sums),
        .out_valid(C_drain_valid), .out_ready(C_drain_ready), .out_data(C_drain_data)
    );
endmodule
