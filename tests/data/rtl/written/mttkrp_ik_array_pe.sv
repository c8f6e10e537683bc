// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Written by Ithaca.
//
// The PE of D[i][j] += A[i][k][l] * B[k][j] * C[j][l], design [i,k] D

module array_pe #(
    parameter integer B_LAST = 0,
    parameter integer C_LAST = 0,
    parameter integer D_1_FIRST = 0,
    parameter RAM_STYLE = "auto"
) (
    input  wire clk,
    input  wire rst,
    input  wire        A_valid,
    output wire        A_ready,
    input  wire [31:0] A_data,
    input  wire       B_valid,
    output wire       B_ready,
    input  wire [7:0] B_data,
    output wire       B_next_valid,
    input  wire       B_next_ready,
    output wire [7:0] B_next_data,
    input  wire        C_valid,
    output wire        C_ready,
    input  wire [31:0] C_data,
    output wire        C_next_valid,
    input  wire        C_next_ready,
    output wire [31:0] C_next_data,
    input  wire        D_1_before_valid,
    output wire        D_1_before_ready,
    input  wire [31:0] D_1_before_data,
    output wire        D_1_valid,
    input  wire        D_1_ready,
    output wire [31:0] D_1_data
);
    // a turn: every word is there, and there is room for each that leaves
    wire turn, gives, takes, D_1_room;
    wire B_room;
    generate
        if (B_LAST == 0) begin : B_hands_on
            ithaca_fifo #(.BITS(8), .DEPTH(2), .STAGES(1)) fifo (
                .clk(clk), .rst(rst),
                .in_valid(turn), .in_ready(B_room), .in_data(B_data),
                .out_valid(B_next_valid), .out_ready(B_next_ready),
                .out_data(B_next_data)
            );
        end else begin : B_ends
            assign B_room = 1'b1;
            assign B_next_valid = 1'b0;
            assign B_next_data = 8'd0;
            wire unused = B_next_ready;
        end
    endgenerate
    wire C_room;
    generate
        if (C_LAST == 0) begin : C_hands_on
            ithaca_fifo #(.BITS(32), .DEPTH(2), .STAGES(1)) fifo (
                .clk(clk), .rst(rst),
                .in_valid(turn), .in_ready(C_room), .in_data(C_data),
                .out_valid(C_next_valid), .out_ready(C_next_ready),
                .out_data(C_next_data)
            );
        end else begin : C_ends
            assign C_room = 1'b1;
            assign C_next_valid = 1'b0;
            assign C_next_data = 32'd0;
            wire unused = C_next_ready;
        end
    endgenerate
    assign turn = A_valid && B_valid && B_room && C_valid && C_room && (!takes || D_1_before_valid) && (!gives || D_1_room);
    assign A_ready = turn;
    assign B_ready = turn;
    assign C_ready = turn;

    // loops of turns: tiles that add to a sum, blocks of sums, visits of a sum, what hides latency
    localparam integer TILE = 3, VISIT = 1;
    wire [3:0] first, last;
    wire [1:0] place;
    ithaca_walk #(
        .AXES(4), .COUNTS({32'd1, 32'd2, 32'd2, 32'd4}), .STEPS({-32'd3, -32'd3, -32'd3, 32'd1}), .FIRST(0),
        .BITS(2)
    ) walk (
        .clk(clk), .rst(rst), .sizes(288'd0), .step(turn), .place(place), .first(first), .last(last)
    );
    assign gives = last[TILE] && last[VISIT];
    assign takes = D_1_FIRST == 0 && last[VISIT];
    assign D_1_before_ready = turn && takes;
    wire unused_walk = &{1'b0, first, last};

    wire [31:0] sums;
    ithaca_mac #(
        .BITS(8), .EXPONENT(0), .SUM(32), .FACTORS(3), .LANES(4),
        .SUMS(1), .HELD(4), .STAGES(4), .APART(4), .LATER(1),
        .RAM(RAM_STYLE)
    ) mac (
        .clk(clk), .valid(turn), .first(first[TILE] && first[VISIT]), .place(place),
        .factors({C_data, {4{B_data}}, A_data}),
        .more(takes ? D_1_before_data : 32'd0), .sums(sums)
    );
    ithaca_fifo #(
        .BITS(32), .DEPTH(2), .LATE(4), .STAGES(0)
    ) D_1_fifo (
        .clk(clk), .rst(rst),
        .in_valid(turn && gives), .in_ready(D_1_room), .in_data(sums),
        .out_valid(D_1_valid), .out_ready(D_1_ready), .out_data(D_1_data)
    );
endmodule
