// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Written by Ithaca.
//
// D[i][j] += A[i][k][l] * B[k][j] * C[j][l], design [i,k] D

module array #(
    parameter RAM_STYLE = "auto"  // of buffers and accumulators: auto, block or distributed
) (
    input  wire clk,
    input  wire rst,
    // A: 4 elements of 8 bits
    input  wire        A_tvalid,
    output wire        A_tready,
    input  wire [31:0] A_tdata,
    // B: 4 elements of 8 bits
    input  wire        B_tvalid,
    output wire        B_tready,
    input  wire [31:0] B_tdata,
    // C: 4 elements of 8 bits
    input  wire        C_tvalid,
    output wire        C_tready,
    input  wire [31:0] C_tdata,
    // D: 4 elements of 32 bits
    output wire         D_tvalid,
    input  wire         D_tready,
    output wire [127:0] D_tdata
);
    localparam integer LANES_i = 4;
    localparam integer LANES_k = 4;

    // A: A_IO_L3_in -> A_IO_L2_in -> A_IO_L1_in -> PE
    wire [LANES_i - 1:0][LANES_k - 1:0] A_PE_valid, A_PE_ready;
    wire [LANES_i - 1:0][LANES_k - 1:0][31:0] A_PE_data;
    wire [LANES_k - 1:0][LANES_i:0] A_IO_L1_in_chain_valid, A_IO_L1_in_chain_ready;
    wire [LANES_k - 1:0][LANES_i:0][31:0] A_IO_L1_in_chain_data;
    for (genvar lane_k = 0; lane_k < LANES_k; lane_k = lane_k + 1) begin : A_IO_L1_ins_k
        for (genvar lane_i = 0; lane_i < LANES_i; lane_i = lane_i + 1) begin : A_IO_L1_ins
            ithaca_feeder #(
                .BITS(8), .PACK(4), .WORD(4), .PACKS(4),
                .AXES(4), .COUNTS({32'd2, 32'd2, 32'd2, 32'd2}), .STEPS({-32'd3, -32'd1, 32'd2, 32'd0}), .FIRST(0),
                .BEHIND(LANES_i - 1 - lane_i), .AGAIN(1), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
            ) A_IO_L1_in (
                .clk(clk), .rst(rst), .sizes(352'd0),
                .in_valid(A_IO_L1_in_chain_valid[lane_k][lane_i]), .in_ready(A_IO_L1_in_chain_ready[lane_k][lane_i]),
                .in_data(A_IO_L1_in_chain_data[lane_k][lane_i]),
                .next_valid(A_IO_L1_in_chain_valid[lane_k][lane_i + 1]), .next_ready(A_IO_L1_in_chain_ready[lane_k][lane_i + 1]),
                .next_data(A_IO_L1_in_chain_data[lane_k][lane_i + 1]),
                .out_valid(A_PE_valid[lane_i][lane_k]), .out_ready(A_PE_ready[lane_i][lane_k]),
                .out_data(A_PE_data[lane_i][lane_k])
            );
        end
    end
    wire [LANES_k:0] A_IO_L2_in_chain_valid, A_IO_L2_in_chain_ready;
    wire [LANES_k:0][31:0] A_IO_L2_in_chain_data;
    for (genvar lane_k = 0; lane_k < LANES_k; lane_k = lane_k + 1) begin : A_IO_L2_ins
        assign A_IO_L1_in_chain_ready[lane_k][LANES_i] = 1'b0;
        wire unused_A_IO_L1_in_chain = &{1'b0, A_IO_L1_in_chain_valid[lane_k][LANES_i], A_IO_L1_in_chain_data[lane_k][LANES_i]};
        ithaca_split #(
            .BITS(32), .PACKS(4), .OWN(LANES_i), .BEHIND(LANES_k - 1 - lane_k), .HOP(2), .DEPTH(2)
        ) A_IO_L2_in (
            .clk(clk), .rst(rst), .sizes(32'd0),
            .in_valid(A_IO_L2_in_chain_valid[lane_k]), .in_ready(A_IO_L2_in_chain_ready[lane_k]),
            .in_data(A_IO_L2_in_chain_data[lane_k]),
            .next_valid(A_IO_L2_in_chain_valid[lane_k + 1]), .next_ready(A_IO_L2_in_chain_ready[lane_k + 1]),
            .next_data(A_IO_L2_in_chain_data[lane_k + 1]),
            .out_valid(A_IO_L1_in_chain_valid[lane_k][0]), .out_ready(A_IO_L1_in_chain_ready[lane_k][0]),
            .out_data(A_IO_L1_in_chain_data[lane_k][0])
        );
    end
    assign A_IO_L2_in_chain_ready[LANES_k] = 1'b0;
    wire unused_A_IO_L2_in_chain = &{1'b0, A_IO_L2_in_chain_valid[LANES_k], A_IO_L2_in_chain_data[LANES_k]};
    ithaca_fifo #(
        .BITS(32), .DEPTH(2), .STAGES(1)
    ) A_IO_L3_in (
        .clk(clk), .rst(rst),
        .in_valid(A_tvalid), .in_ready(A_tready),
        .in_data(A_tdata),
        .out_valid(A_IO_L2_in_chain_valid[0]), .out_ready(A_IO_L2_in_chain_ready[0]),
        .out_data(A_IO_L2_in_chain_data[0])
    );

    // B: B_IO_L3_in -> B_IO_L2_in -> PE
    wire [LANES_i:0][LANES_k - 1:0] B_PE_valid, B_PE_ready;
    wire [LANES_i:0][LANES_k - 1:0][7:0] B_PE_data;
    wire [LANES_k:0] B_IO_L2_in_chain_valid, B_IO_L2_in_chain_ready;
    wire [LANES_k:0][31:0] B_IO_L2_in_chain_data;
    for (genvar lane_k = 0; lane_k < LANES_k; lane_k = lane_k + 1) begin : B_IO_L2_ins
        assign B_PE_ready[LANES_i][lane_k] = 1'b0;
        wire unused_B_PE = &{1'b0, B_PE_valid[LANES_i][lane_k], B_PE_data[LANES_i][lane_k]};
        ithaca_feeder #(
            .BITS(8), .PACK(4), .WORD(1), .PACKS(1),
            .AXES(3), .COUNTS({32'd2, 32'd4, 32'd2}), .STEPS({32'd1, -32'd1, 32'd1}), .FIRST(0),
            .BEHIND(LANES_k - 1 - lane_k), .AGAIN(3), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
        ) B_IO_L2_in (
            .clk(clk), .rst(rst), .sizes(288'd0),
            .in_valid(B_IO_L2_in_chain_valid[lane_k]), .in_ready(B_IO_L2_in_chain_ready[lane_k]),
            .in_data(B_IO_L2_in_chain_data[lane_k]),
            .next_valid(B_IO_L2_in_chain_valid[lane_k + 1]), .next_ready(B_IO_L2_in_chain_ready[lane_k + 1]),
            .next_data(B_IO_L2_in_chain_data[lane_k + 1]),
            .out_valid(B_PE_valid[0][lane_k]), .out_ready(B_PE_ready[0][lane_k]),
            .out_data(B_PE_data[0][lane_k])
        );
    end
    assign B_IO_L2_in_chain_ready[LANES_k] = 1'b0;
    wire unused_B_IO_L2_in_chain = &{1'b0, B_IO_L2_in_chain_valid[LANES_k], B_IO_L2_in_chain_data[LANES_k]};
    ithaca_fifo #(
        .BITS(32), .DEPTH(2), .STAGES(1)
    ) B_IO_L3_in (
        .clk(clk), .rst(rst),
        .in_valid(B_tvalid), .in_ready(B_tready),
        .in_data(B_tdata),
        .out_valid(B_IO_L2_in_chain_valid[0]), .out_ready(B_IO_L2_in_chain_ready[0]),
        .out_data(B_IO_L2_in_chain_data[0])
    );

    // C: C_IO_L3_in -> C_IO_L2_in -> PE
    wire [LANES_i:0][LANES_k - 1:0] C_PE_valid, C_PE_ready;
    wire [LANES_i:0][LANES_k - 1:0][31:0] C_PE_data;
    wire [LANES_k:0] C_IO_L2_in_chain_valid, C_IO_L2_in_chain_ready;
    wire [LANES_k:0][31:0] C_IO_L2_in_chain_data;
    for (genvar lane_k = 0; lane_k < LANES_k; lane_k = lane_k + 1) begin : C_IO_L2_ins
        assign C_PE_ready[LANES_i][lane_k] = 1'b0;
        wire unused_C_PE = &{1'b0, C_PE_valid[LANES_i][lane_k], C_PE_data[LANES_i][lane_k]};
        ithaca_feeder #(
            .BITS(8), .PACK(4), .WORD(4), .PACKS(8),
            .AXES(4), .COUNTS({32'd2, 32'd2, 32'd2, 32'd2}), .STEPS({32'd1, -32'd1, -32'd2, 32'd2}), .FIRST(0),
            .BEHIND(LANES_k - 1 - lane_k), .AGAIN(1), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
        ) C_IO_L2_in (
            .clk(clk), .rst(rst), .sizes(352'd0),
            .in_valid(C_IO_L2_in_chain_valid[lane_k]), .in_ready(C_IO_L2_in_chain_ready[lane_k]),
            .in_data(C_IO_L2_in_chain_data[lane_k]),
            .next_valid(C_IO_L2_in_chain_valid[lane_k + 1]), .next_ready(C_IO_L2_in_chain_ready[lane_k + 1]),
            .next_data(C_IO_L2_in_chain_data[lane_k + 1]),
            .out_valid(C_PE_valid[0][lane_k]), .out_ready(C_PE_ready[0][lane_k]),
            .out_data(C_PE_data[0][lane_k])
        );
    end
    assign C_IO_L2_in_chain_ready[LANES_k] = 1'b0;
    wire unused_C_IO_L2_in_chain = &{1'b0, C_IO_L2_in_chain_valid[LANES_k], C_IO_L2_in_chain_data[LANES_k]};
    ithaca_fifo #(
        .BITS(32), .DEPTH(2), .STAGES(1)
    ) C_IO_L3_in (
        .clk(clk), .rst(rst),
        .in_valid(C_tvalid), .in_ready(C_tready),
        .in_data(C_tdata),
        .out_valid(C_IO_L2_in_chain_valid[0]), .out_ready(C_IO_L2_in_chain_ready[0]),
        .out_data(C_IO_L2_in_chain_data[0])
    );

    // D: PE -> D_1_IO_L2_out -> D_1_IO_L3_out
    wire [LANES_i - 1:0][LANES_k:0] D_1_PE_valid, D_1_PE_ready;
    wire [LANES_i - 1:0][LANES_k:0][31:0] D_1_PE_data;
    wire [LANES_i:0] D_1_IO_L2_out_chain_valid, D_1_IO_L2_out_chain_ready;
    wire [LANES_i:0][127:0] D_1_IO_L2_out_chain_data;
    for (genvar lane_i = 0; lane_i < LANES_i; lane_i = lane_i + 1) begin : D_1_IO_L2_outs
        assign D_1_PE_valid[lane_i][0] = 1'b0;
        assign D_1_PE_data[lane_i][0] = '0;
        wire unused_D_1_PE = &D_1_PE_ready[lane_i][0];
        ithaca_collector #(
            .BITS(32), .PACK(4), .WORD(1), .PACKS(2),
            .AXES(3), .COUNTS({32'd2, 32'd2, 32'd2}), .STEPS({-32'd3, 32'd3, 32'd1}), .FIRST(0),
            .BEHIND(LANES_i - 1 - lane_i), .AGAIN(15), .EXPONENT(0), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
        ) D_1_IO_L2_out (
            .clk(clk), .rst(rst), .sizes(288'd0),
            .in_valid(D_1_PE_valid[lane_i][LANES_k]), .in_ready(D_1_PE_ready[lane_i][LANES_k]),
            .in_data(D_1_PE_data[lane_i][LANES_k]),
            .next_valid(D_1_IO_L2_out_chain_valid[lane_i + 1]), .next_ready(D_1_IO_L2_out_chain_ready[lane_i + 1]),
            .next_data(D_1_IO_L2_out_chain_data[lane_i + 1]),
            .out_valid(D_1_IO_L2_out_chain_valid[lane_i]), .out_ready(D_1_IO_L2_out_chain_ready[lane_i]),
            .out_data(D_1_IO_L2_out_chain_data[lane_i])
        );
    end
    assign D_1_IO_L2_out_chain_valid[LANES_i] = 1'b0;
    assign D_1_IO_L2_out_chain_data[LANES_i] = '0;
    wire unused_D_1_IO_L2_out_chain = &D_1_IO_L2_out_chain_ready[LANES_i];
    assign D_tvalid = D_1_IO_L2_out_chain_valid[0];
    assign D_1_IO_L2_out_chain_ready[0] = D_tready;
    assign D_tdata = D_1_IO_L2_out_chain_data[0];

    for (genvar lane_i = 0; lane_i < LANES_i; lane_i = lane_i + 1) begin : PEs_i
        for (genvar lane_k = 0; lane_k < LANES_k; lane_k = lane_k + 1) begin : PEs
            array_pe #(
                .B_LAST(lane_i == LANES_i - 1 ? 1 : 0),
                .C_LAST(lane_i == LANES_i - 1 ? 1 : 0),
                .D_1_FIRST(lane_k == 0 ? 1 : 0),
                .RAM_STYLE(RAM_STYLE)
            ) PE (
                .clk(clk), .rst(rst),
                .A_valid(A_PE_valid[lane_i][lane_k]), .A_ready(A_PE_ready[lane_i][lane_k]),
                .A_data(A_PE_data[lane_i][lane_k]),
                .B_valid(B_PE_valid[lane_i][lane_k]), .B_ready(B_PE_ready[lane_i][lane_k]),
                .B_data(B_PE_data[lane_i][lane_k]),
                .B_next_valid(B_PE_valid[lane_i + 1][lane_k]), .B_next_ready(B_PE_ready[lane_i + 1][lane_k]),
                .B_next_data(B_PE_data[lane_i + 1][lane_k]),
                .C_valid(C_PE_valid[lane_i][lane_k]), .C_ready(C_PE_ready[lane_i][lane_k]),
                .C_data(C_PE_data[lane_i][lane_k]),
                .C_next_valid(C_PE_valid[lane_i + 1][lane_k]), .C_next_ready(C_PE_ready[lane_i + 1][lane_k]),
                .C_next_data(C_PE_data[lane_i + 1][lane_k]),
                .D_1_before_valid(D_1_PE_valid[lane_i][lane_k]), .D_1_before_ready(D_1_PE_ready[lane_i][lane_k]),
                .D_1_before_data(D_1_PE_data[lane_i][lane_k]),
                .D_1_valid(D_1_PE_valid[lane_i][lane_k + 1]), .D_1_ready(D_1_PE_ready[lane_i][lane_k + 1]),
                .D_1_data(D_1_PE_data[lane_i][lane_k + 1])
            );
        end
    end
endmodule
