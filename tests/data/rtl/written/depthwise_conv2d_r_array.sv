// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Written by Ithaca.
//
// cout[r][c][o] += cin[r+p][c+q][o] * w[p][q][o], design [r] cout

module array #(
    parameter RAM_STYLE = "auto"  // of buffers and accumulators: auto, block or distributed
) (
    input  wire clk,
    input  wire rst,
    // cin: 4 elements of 8 bits
    input  wire        cin_tvalid,
    output wire        cin_tready,
    input  wire [31:0] cin_tdata,
    // w: 4 elements of 8 bits
    input  wire        w_tvalid,
    output wire        w_tready,
    input  wire [31:0] w_tdata,
    // cout: 4 elements of 32 bits
    output wire         cout_tvalid,
    input  wire         cout_tready,
    output wire [127:0] cout_tdata
);
    localparam integer LANES_r = 4;

    // cin: cin_IO_L2_in -> cin_IO_L1_in -> PE
    wire [LANES_r - 1:0] cin_PE_valid, cin_PE_ready;
    wire [LANES_r - 1:0][31:0] cin_PE_data;
    wire [LANES_r:0] cin_IO_L1_in_chain_valid, cin_IO_L1_in_chain_ready;
    wire [LANES_r:0][31:0] cin_IO_L1_in_chain_data;
    for (genvar lane_r = 0; lane_r < LANES_r; lane_r = lane_r + 1) begin : cin_IO_L1_ins
        ithaca_feeder #(
            .BITS(8), .PACK(4), .WORD(4), .PACKS(960),
            .AXES(6), .COUNTS({32'd2, 32'd2, 32'd19, 32'd21, 32'd2, 32'd2}), .STEPS({-32'd957, -32'd950, -32'd42, -32'd48, 32'd46, 32'd2}), .FIRST(0),
            .BEHIND(LANES_r - 1 - lane_r), .AGAIN(1), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
        ) cin_IO_L1_in (
            .clk(clk), .rst(rst), .sizes(480'd0),
            .in_valid(cin_IO_L1_in_chain_valid[lane_r]), .in_ready(cin_IO_L1_in_chain_ready[lane_r]),
            .in_data(cin_IO_L1_in_chain_data[lane_r]),
            .next_valid(cin_IO_L1_in_chain_valid[lane_r + 1]), .next_ready(cin_IO_L1_in_chain_ready[lane_r + 1]),
            .next_data(cin_IO_L1_in_chain_data[lane_r + 1]),
            .out_valid(cin_PE_valid[lane_r]), .out_ready(cin_PE_ready[lane_r]),
            .out_data(cin_PE_data[lane_r])
        );
    end
    assign cin_IO_L1_in_chain_ready[LANES_r] = 1'b0;
    wire unused_cin_IO_L1_in_chain = &{1'b0, cin_IO_L1_in_chain_valid[LANES_r], cin_IO_L1_in_chain_data[LANES_r]};
    ithaca_fifo #(
        .BITS(32), .DEPTH(2), .STAGES(1)
    ) cin_IO_L2_in (
        .clk(clk), .rst(rst),
        .in_valid(cin_tvalid), .in_ready(cin_tready),
        .in_data(cin_tdata),
        .out_valid(cin_IO_L1_in_chain_valid[0]), .out_ready(cin_IO_L1_in_chain_ready[0]),
        .out_data(cin_IO_L1_in_chain_data[0])
    );

    // w: w_IO_L2_in -> PE
    wire [LANES_r:0] w_PE_valid, w_PE_ready;
    wire [LANES_r:0][31:0] w_PE_data;
    wire [1:0] w_IO_L2_in_chain_valid, w_IO_L2_in_chain_ready;
    wire [1:0][31:0] w_IO_L2_in_chain_data;
    assign w_PE_ready[LANES_r] = 1'b0;
    wire unused_w_PE = &{1'b0, w_PE_valid[LANES_r], w_PE_data[LANES_r]};
    ithaca_feeder #(
        .BITS(8), .PACK(4), .WORD(4), .PACKS(798),
        .AXES(4), .COUNTS({32'd2, 32'd2, 32'd399, 32'd4}), .STEPS({-32'd795, -32'd796, 32'd2, 32'd0}), .FIRST(0),
        .BEHIND(0), .AGAIN(1), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
    ) w_IO_L2_in (
        .clk(clk), .rst(rst), .sizes(352'd0),
        .in_valid(w_IO_L2_in_chain_valid[0]), .in_ready(w_IO_L2_in_chain_ready[0]),
        .in_data(w_IO_L2_in_chain_data[0]),
        .next_valid(w_IO_L2_in_chain_valid[1]), .next_ready(w_IO_L2_in_chain_ready[1]),
        .next_data(w_IO_L2_in_chain_data[1]),
        .out_valid(w_PE_valid[0]), .out_ready(w_PE_ready[0]),
        .out_data(w_PE_data[0])
    );
    assign w_IO_L2_in_chain_ready[1] = 1'b0;
    wire unused_w_IO_L2_in_chain = &{1'b0, w_IO_L2_in_chain_valid[1], w_IO_L2_in_chain_data[1]};
    assign w_IO_L2_in_chain_valid[0] = w_tvalid;
    assign w_tready = w_IO_L2_in_chain_ready[0];
    assign w_IO_L2_in_chain_data[0] = w_tdata;

    // cout: PE -> cout_drain_IO_L1_out -> cout_drain_IO_L2_out
    wire [LANES_r - 1:0] cout_drain_PE_valid, cout_drain_PE_ready;
    wire [LANES_r - 1:0][127:0] cout_drain_PE_data;
    wire [LANES_r:0] cout_drain_IO_L1_out_chain_valid, cout_drain_IO_L1_out_chain_ready;
    wire [LANES_r:0][127:0] cout_drain_IO_L1_out_chain_data;
    for (genvar lane_r = 0; lane_r < LANES_r; lane_r = lane_r + 1) begin : cout_drain_IO_L1_outs
        ithaca_drain #(
            .BITS(32), .PACK(4), .WORD(4), .PACKS(16),
            .AXES(4), .COUNTS({32'd2, 32'd2, 32'd2, 32'd2}), .STEPS({-32'd13, -32'd6, 32'd6, 32'd2}), .FIRST(0),
            .BEHIND(LANES_r - 1 - lane_r), .HOP(2), .DEPTH(2), .RAM(RAM_STYLE)
        ) cout_drain_IO_L1_out (
            .clk(clk), .rst(rst), .sizes(320'd0),
            .in_valid(cout_drain_PE_valid[lane_r]), .in_ready(cout_drain_PE_ready[lane_r]),
            .in_data(cout_drain_PE_data[lane_r]),
            .next_valid(cout_drain_IO_L1_out_chain_valid[lane_r + 1]), .next_ready(cout_drain_IO_L1_out_chain_ready[lane_r + 1]),
            .next_data(cout_drain_IO_L1_out_chain_data[lane_r + 1]),
            .out_valid(cout_drain_IO_L1_out_chain_valid[lane_r]), .out_ready(cout_drain_IO_L1_out_chain_ready[lane_r]),
            .out_data(cout_drain_IO_L1_out_chain_data[lane_r])
        );
    end
    assign cout_drain_IO_L1_out_chain_valid[LANES_r] = 1'b0;
    assign cout_drain_IO_L1_out_chain_data[LANES_r] = '0;
    wire unused_cout_drain_IO_L1_out_chain = &cout_drain_IO_L1_out_chain_ready[LANES_r];
    assign cout_tvalid = cout_drain_IO_L1_out_chain_valid[0];
    assign cout_drain_IO_L1_out_chain_ready[0] = cout_tready;
    assign cout_tdata = cout_drain_IO_L1_out_chain_data[0];

    for (genvar lane_r = 0; lane_r < LANES_r; lane_r = lane_r + 1) begin : PEs
        array_pe #(
            .w_LAST(lane_r == LANES_r - 1 ? 1 : 0),
            .RAM_STYLE(RAM_STYLE)
        ) PE (
            .clk(clk), .rst(rst),
            .cin_valid(cin_PE_valid[lane_r]), .cin_ready(cin_PE_ready[lane_r]),
            .cin_data(cin_PE_data[lane_r]),
            .w_valid(w_PE_valid[lane_r]), .w_ready(w_PE_ready[lane_r]),
            .w_data(w_PE_data[lane_r]),
            .w_next_valid(w_PE_valid[lane_r + 1]), .w_next_ready(w_PE_ready[lane_r + 1]),
            .w_next_data(w_PE_data[lane_r + 1]),
            .cout_drain_valid(cout_drain_PE_valid[lane_r]), .cout_drain_ready(cout_drain_PE_ready[lane_r]),
            .cout_drain_data(cout_drain_PE_data[lane_r])
        );
    end
endmodule
