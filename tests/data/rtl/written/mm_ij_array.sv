// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Written by Ithaca.
//
// C[i][j] += A[i][k] * B[j][k], design [i,j] C

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
    // C: 2 elements of 32 bits
    output wire        C_tvalid,
    input  wire        C_tready,
    output wire [63:0] C_tdata
);
    localparam integer LANES_i = 4;
    localparam integer LANES_j = 4;

    // A: A_IO_L3_in -> A_IO_L2_in -> PE
    wire [LANES_i - 1:0][LANES_j:0] A_PE_valid, A_PE_ready;
    wire [LANES_i - 1:0][LANES_j:0][31:0] A_PE_data;
    wire [LANES_i:0] A_IO_L2_in_chain_valid, A_IO_L2_in_chain_ready;
    wire [LANES_i:0][31:0] A_IO_L2_in_chain_data;
    for (genvar lane_i = 0; lane_i < LANES_i; lane_i = lane_i + 1) begin : A_IO_L2_ins
        assign A_PE_ready[lane_i][LANES_j] = 1'b0;
        wire unused_A_PE = &{1'b0, A_PE_valid[lane_i][LANES_j], A_PE_data[lane_i][LANES_j]};
        ithaca_feeder #(
            .BITS(8), .PACK(4), .WORD(4), .PACKS(4),
            .AXES(3), .COUNTS({32'd2, 32'd2, 32'd2}), .STEPS({-32'd1, 32'd2, 32'd0}), .FIRST(0),
            .BEHIND(LANES_i - 1 - lane_i), .AGAIN(1), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
        ) A_IO_L2_in (
            .clk(clk), .rst(rst), .sizes(288'd0),
            .in_valid(A_IO_L2_in_chain_valid[lane_i]), .in_ready(A_IO_L2_in_chain_ready[lane_i]),
            .in_data(A_IO_L2_in_chain_data[lane_i]),
            .next_valid(A_IO_L2_in_chain_valid[lane_i + 1]), .next_ready(A_IO_L2_in_chain_ready[lane_i + 1]),
            .next_data(A_IO_L2_in_chain_data[lane_i + 1]),
            .out_valid(A_PE_valid[lane_i][0]), .out_ready(A_PE_ready[lane_i][0]),
            .out_data(A_PE_data[lane_i][0])
        );
    end
    assign A_IO_L2_in_chain_ready[LANES_i] = 1'b0;
    wire unused_A_IO_L2_in_chain = &{1'b0, A_IO_L2_in_chain_valid[LANES_i], A_IO_L2_in_chain_data[LANES_i]};
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
    wire [LANES_i:0][LANES_j - 1:0] B_PE_valid, B_PE_ready;
    wire [LANES_i:0][LANES_j - 1:0][31:0] B_PE_data;
    wire [LANES_j:0] B_IO_L2_in_chain_valid, B_IO_L2_in_chain_ready;
    wire [LANES_j:0][31:0] B_IO_L2_in_chain_data;
    for (genvar lane_j = 0; lane_j < LANES_j; lane_j = lane_j + 1) begin : B_IO_L2_ins
        assign B_PE_ready[LANES_i][lane_j] = 1'b0;
        wire unused_B_PE = &{1'b0, B_PE_valid[LANES_i][lane_j], B_PE_data[LANES_i][lane_j]};
        ithaca_feeder #(
            .BITS(8), .PACK(4), .WORD(4), .PACKS(4),
            .AXES(3), .COUNTS({32'd2, 32'd2, 32'd2}), .STEPS({-32'd1, -32'd2, 32'd2}), .FIRST(0),
            .BEHIND(LANES_j - 1 - lane_j), .AGAIN(1), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
        ) B_IO_L2_in (
            .clk(clk), .rst(rst), .sizes(288'd0),
            .in_valid(B_IO_L2_in_chain_valid[lane_j]), .in_ready(B_IO_L2_in_chain_ready[lane_j]),
            .in_data(B_IO_L2_in_chain_data[lane_j]),
            .next_valid(B_IO_L2_in_chain_valid[lane_j + 1]), .next_ready(B_IO_L2_in_chain_ready[lane_j + 1]),
            .next_data(B_IO_L2_in_chain_data[lane_j + 1]),
            .out_valid(B_PE_valid[0][lane_j]), .out_ready(B_PE_ready[0][lane_j]),
            .out_data(B_PE_data[0][lane_j])
        );
    end
    assign B_IO_L2_in_chain_ready[LANES_j] = 1'b0;
    wire unused_B_IO_L2_in_chain = &{1'b0, B_IO_L2_in_chain_valid[LANES_j], B_IO_L2_in_chain_data[LANES_j]};
    ithaca_fifo #(
        .BITS(32), .DEPTH(2), .STAGES(1)
    ) B_IO_L3_in (
        .clk(clk), .rst(rst),
        .in_valid(B_tvalid), .in_ready(B_tready),
        .in_data(B_tdata),
        .out_valid(B_IO_L2_in_chain_valid[0]), .out_ready(B_IO_L2_in_chain_ready[0]),
        .out_data(B_IO_L2_in_chain_data[0])
    );

    // C: PE -> C_drain_IO_L1_out -> C_drain_IO_L2_out -> C_drain_IO_L3_out
    wire [LANES_i - 1:0][LANES_j - 1:0] C_drain_PE_valid, C_drain_PE_ready;
    wire [LANES_i - 1:0][LANES_j - 1:0][31:0] C_drain_PE_data;
    wire [LANES_j - 1:0][LANES_i:0] C_drain_IO_L1_out_chain_valid, C_drain_IO_L1_out_chain_ready;
    wire [LANES_j - 1:0][LANES_i:0][63:0] C_drain_IO_L1_out_chain_data;
    for (genvar lane_j = 0; lane_j < LANES_j; lane_j = lane_j + 1) begin : C_drain_IO_L1_outs_j
        for (genvar lane_i = 0; lane_i < LANES_i; lane_i = lane_i + 1) begin : C_drain_IO_L1_outs
            ithaca_drain #(
                .BITS(32), .PACK(2), .WORD(1), .PACKS(2),
                .AXES(1), .COUNTS({32'd4}), .STEPS({32'd1}), .FIRST(0),
                .BEHIND(LANES_i - 1 - lane_i), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
            ) C_drain_IO_L1_out (
                .clk(clk), .rst(rst), .sizes(128'd0),
                .in_valid(C_drain_PE_valid[lane_i][lane_j]), .in_ready(C_drain_PE_ready[lane_i][lane_j]),
                .in_data(C_drain_PE_data[lane_i][lane_j]),
                .next_valid(C_drain_IO_L1_out_chain_valid[lane_j][lane_i + 1]), .next_ready(C_drain_IO_L1_out_chain_ready[lane_j][lane_i + 1]),
                .next_data(C_drain_IO_L1_out_chain_data[lane_j][lane_i + 1]),
                .out_valid(C_drain_IO_L1_out_chain_valid[lane_j][lane_i]), .out_ready(C_drain_IO_L1_out_chain_ready[lane_j][lane_i]),
                .out_data(C_drain_IO_L1_out_chain_data[lane_j][lane_i])
            );
        end
    end
    wire [LANES_j:0] C_drain_IO_L2_out_chain_valid, C_drain_IO_L2_out_chain_ready;
    wire [LANES_j:0][63:0] C_drain_IO_L2_out_chain_data;
    for (genvar lane_j = 0; lane_j < LANES_j; lane_j = lane_j + 1) begin : C_drain_IO_L2_outs
        assign C_drain_IO_L1_out_chain_valid[lane_j][LANES_i] = 1'b0;
        assign C_drain_IO_L1_out_chain_data[lane_j][LANES_i] = '0;
        wire unused_C_drain_IO_L1_out_chain = &C_drain_IO_L1_out_chain_ready[lane_j][LANES_i];
        ithaca_merge #(
            .BITS(64), .PACKS(2), .OWN(LANES_i), .BEHIND(LANES_j - 1 - lane_j), .HOP(2), .DEPTH(2)
        ) C_drain_IO_L2_out (
            .clk(clk), .rst(rst), .sizes(32'd0),
            .in_valid(C_drain_IO_L1_out_chain_valid[lane_j][0]), .in_ready(C_drain_IO_L1_out_chain_ready[lane_j][0]),
            .in_data(C_drain_IO_L1_out_chain_data[lane_j][0]),
            .next_valid(C_drain_IO_L2_out_chain_valid[lane_j + 1]), .next_ready(C_drain_IO_L2_out_chain_ready[lane_j + 1]),
            .next_data(C_drain_IO_L2_out_chain_data[lane_j + 1]),
            .out_valid(C_drain_IO_L2_out_chain_valid[lane_j]), .out_ready(C_drain_IO_L2_out_chain_ready[lane_j]),
            .out_data(C_drain_IO_L2_out_chain_data[lane_j])
        );
    end
    assign C_drain_IO_L2_out_chain_valid[LANES_j] = 1'b0;
    assign C_drain_IO_L2_out_chain_data[LANES_j] = '0;
    wire unused_C_drain_IO_L2_out_chain = &C_drain_IO_L2_out_chain_ready[LANES_j];
    assign C_tvalid = C_drain_IO_L2_out_chain_valid[0];
    assign C_drain_IO_L2_out_chain_ready[0] = C_tready;
    assign C_tdata = C_drain_IO_L2_out_chain_data[0];

    for (genvar lane_i = 0; lane_i < LANES_i; lane_i = lane_i + 1) begin : PEs_i
        for (genvar lane_j = 0; lane_j < LANES_j; lane_j = lane_j + 1) begin : PEs
            array_pe #(
                .A_LAST(lane_j == LANES_j - 1 ? 1 : 0),
                .B_LAST(lane_i == LANES_i - 1 ? 1 : 0),
                .RAM_STYLE(RAM_STYLE)
            ) PE (
                .clk(clk), .rst(rst),
                .A_valid(A_PE_valid[lane_i][lane_j]), .A_ready(A_PE_ready[lane_i][lane_j]),
                .A_data(A_PE_data[lane_i][lane_j]),
                .A_next_valid(A_PE_valid[lane_i][lane_j + 1]), .A_next_ready(A_PE_ready[lane_i][lane_j + 1]),
                .A_next_data(A_PE_data[lane_i][lane_j + 1]),
                .B_valid(B_PE_valid[lane_i][lane_j]), .B_ready(B_PE_ready[lane_i][lane_j]),
                .B_data(B_PE_data[lane_i][lane_j]),
                .B_next_valid(B_PE_valid[lane_i + 1][lane_j]), .B_next_ready(B_PE_ready[lane_i + 1][lane_j]),
                .B_next_data(B_PE_data[lane_i + 1][lane_j]),
                .C_drain_valid(C_drain_PE_valid[lane_i][lane_j]), .C_drain_ready(C_drain_PE_ready[lane_i][lane_j]),
                .C_drain_data(C_drain_PE_data[lane_i][lane_j])
            );
        end
    end
endmodule
