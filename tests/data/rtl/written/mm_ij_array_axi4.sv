// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Written by Ithaca.
//
// C[i][j] += A[i][k] * B[j][k], design [i,j] C: the array with an AXI4 master for each tensor, which lies in memory
// row by row, without padding, at an address that registers on AXI4-Lite take. They are laid out as
// Vitis does for ap_ctrl_hs (axi4/ithaca_control.sv); tensors are multiples of their elements' bytes
// away from address 0.

module array_axi4 #(
    parameter integer A_DATA = 32,
    parameter integer B_DATA = 32,
    parameter integer C_DATA = 64,
    parameter RAM_STYLE = "auto"  // of buffers and accumulators: auto, block or distributed
) (
    input  wire        ap_clk,
    input  wire        ap_rst_n,
    /* verilator lint_off SYMRSVDWORD */
    output wire        interrupt,  // as Vitis names it
    /* verilator lint_on SYMRSVDWORD */
    // A: (13, 17), 8 bits, read
    output wire        m_axi_A_arvalid,
    input  wire        m_axi_A_arready,
    output wire [63:0] m_axi_A_araddr,
    output wire [7:0]  m_axi_A_arlen,
    output wire [2:0]  m_axi_A_arsize,
    output wire [1:0]  m_axi_A_arburst,
    output wire [3:0]  m_axi_A_arcache,
    output wire [2:0]  m_axi_A_arprot,
    input  wire        m_axi_A_rvalid,
    output wire        m_axi_A_rready,
    input  wire [A_DATA-1:0] m_axi_A_rdata,
    input  wire [1:0]  m_axi_A_rresp,
    input  wire        m_axi_A_rlast,
    // B: (15, 17), 8 bits, read
    output wire        m_axi_B_arvalid,
    input  wire        m_axi_B_arready,
    output wire [63:0] m_axi_B_araddr,
    output wire [7:0]  m_axi_B_arlen,
    output wire [2:0]  m_axi_B_arsize,
    output wire [1:0]  m_axi_B_arburst,
    output wire [3:0]  m_axi_B_arcache,
    output wire [2:0]  m_axi_B_arprot,
    input  wire        m_axi_B_rvalid,
    output wire        m_axi_B_rready,
    input  wire [B_DATA-1:0] m_axi_B_rdata,
    input  wire [1:0]  m_axi_B_rresp,
    input  wire        m_axi_B_rlast,
    // C: (13, 15), 32 bits, written
    output wire        m_axi_C_awvalid,
    input  wire        m_axi_C_awready,
    output wire [63:0] m_axi_C_awaddr,
    output wire [7:0]  m_axi_C_awlen,
    output wire [2:0]  m_axi_C_awsize,
    output wire [1:0]  m_axi_C_awburst,
    output wire [3:0]  m_axi_C_awcache,
    output wire [2:0]  m_axi_C_awprot,
    output wire        m_axi_C_wvalid,
    input  wire        m_axi_C_wready,
    output wire [C_DATA-1:0] m_axi_C_wdata,
    output wire [C_DATA/8-1:0] m_axi_C_wstrb,
    output wire        m_axi_C_wlast,
    input  wire        m_axi_C_bvalid,
    output wire        m_axi_C_bready,
    input  wire [1:0]  m_axi_C_bresp,
    input  wire        s_axi_control_awvalid,
    output wire        s_axi_control_awready,
    input  wire [11:0] s_axi_control_awaddr,
    input  wire        s_axi_control_wvalid,
    output wire        s_axi_control_wready,
    input  wire [31:0] s_axi_control_wdata,
    input  wire [3:0]  s_axi_control_wstrb,
    output wire        s_axi_control_bvalid,
    input  wire        s_axi_control_bready,
    output wire [1:0]  s_axi_control_bresp,
    input  wire        s_axi_control_arvalid,
    output wire        s_axi_control_arready,
    input  wire [11:0] s_axi_control_araddr,
    output wire        s_axi_control_rvalid,
    input  wire        s_axi_control_rready,
    output wire [31:0] s_axi_control_rdata,
    output wire [1:0]  s_axi_control_rresp
);
    localparam [11:0] A_ADDRESS = 12'h010;
    localparam [11:0] B_ADDRESS = 12'h01c;
    localparam [11:0] C_ADDRESS = 12'h028;
    localparam [11:0] ERRORS = 12'h034;

    reg rst;
    always @(posedge ap_clk) rst <= !ap_rst_n;

    wire start;
    wire [2:0] busy, failed;
    wire [64*3-1:0] base;
    ithaca_control #(
        .TENSORS(3), .ADDRESSES({32'(C_ADDRESS), 32'(B_ADDRESS), 32'(A_ADDRESS)}), .ERRORS(32'(ERRORS))
    ) control (
        .clk(ap_clk), .rst(rst), .interrupt(interrupt), .start(start), .busy(|busy),
        .failed(failed), .base(base),
        .awvalid(s_axi_control_awvalid), .awready(s_axi_control_awready),
        .awaddr(s_axi_control_awaddr), .wvalid(s_axi_control_wvalid),
        .wready(s_axi_control_wready), .wdata(s_axi_control_wdata), .wstrb(s_axi_control_wstrb),
        .bvalid(s_axi_control_bvalid), .bready(s_axi_control_bready),
        .bresp(s_axi_control_bresp), .arvalid(s_axi_control_arvalid),
        .arready(s_axi_control_arready), .araddr(s_axi_control_araddr),
        .rvalid(s_axi_control_rvalid), .rready(s_axi_control_rready),
        .rdata(s_axi_control_rdata), .rresp(s_axi_control_rresp)
    );

    // A: 16 × 24 padded, rows of 143
    wire A_tvalid, A_tready;
    wire [32-1:0] A_tdata;
    ithaca_reader #(
        .BITS(8), .PACK(4), .PACKS(192), .DATA(A_DATA), .SIZE(221),
        .LANES(1), .ROW(143), .ROWS(1), .SKIPPED(0),
        .ROW_AXES(1), .ROW_COUNTS({32'd2}), .ROW_STEPS({64'd584115552392}), .ROW_FIRST(64'd0),
        .DIMS(2), .BEGINS({32'd0, 32'd0}), .ENDS({32'd13, 32'd17}), .INNER(4),
        .AXES(5), .COUNTS({32'd2, 32'd2, 32'd3, 32'd8, 32'd2}), .STEPS({-160'd1020847100762815392954221248536637341716, -160'd47299249002010446423973167859291473838100, -160'd39132472195907923300409455423160007524348, 160'd4423670769972200025263677569575505887228, 160'd1361129467683753853927285406021911052292}), .FIRST(160'd0),
        .OFFSETS({160'd0})
    ) A_master (
        .clk(ap_clk), .rst(rst), .start(start), .base(base[64*0+:64]),
        .busy(busy[0]), .failed(failed[0]),
        .arvalid(m_axi_A_arvalid), .arready(m_axi_A_arready),
        .araddr(m_axi_A_araddr), .arlen(m_axi_A_arlen),
        .rvalid(m_axi_A_rvalid), .rready(m_axi_A_rready),
        .rdata(m_axi_A_rdata), .rresp(m_axi_A_rresp), .rlast(m_axi_A_rlast),
        .out_valid(A_tvalid), .out_ready(A_tready), .out_data(A_tdata)
    );
    assign m_axi_A_arsize = 3'($clog2(A_DATA / 8));
    assign m_axi_A_arburst = 2'b01;
    assign m_axi_A_arcache = 4'b0011;
    assign m_axi_A_arprot = 3'b000;

    // B: 16 × 24 padded, rows of 279
    wire B_tvalid, B_tready;
    wire [32-1:0] B_tdata;
    ithaca_reader #(
        .BITS(8), .PACK(4), .PACKS(192), .DATA(B_DATA), .SIZE(255),
        .LANES(1), .ROW(279), .ROWS(1), .SKIPPED(0),
        .ROW_AXES(1), .ROW_COUNTS({32'd1}), .ROW_STEPS({64'd0}), .ROW_FIRST(64'd0),
        .DIMS(2), .BEGINS({32'd0, 32'd0}), .ENDS({32'd15, 32'd17}), .INNER(5),
        .AXES(5), .COUNTS({32'd2, 32'd2, 32'd3, 32'd8, 32'd2}), .STEPS({-160'd93577650903258077457500871664070809354260, -160'd1020847100762815390445464054512138321940, -160'd39132472195907923300409455423160007524348, 160'd4423670769972200025263677569575505887228, 160'd1361129467683753853927285406021911052292}), .FIRST(160'd0),
        .OFFSETS({160'd0})
    ) B_master (
        .clk(ap_clk), .rst(rst), .start(start), .base(base[64*1+:64]),
        .busy(busy[1]), .failed(failed[1]),
        .arvalid(m_axi_B_arvalid), .arready(m_axi_B_arready),
        .araddr(m_axi_B_araddr), .arlen(m_axi_B_arlen),
        .rvalid(m_axi_B_rvalid), .rready(m_axi_B_rready),
        .rdata(m_axi_B_rdata), .rresp(m_axi_B_rresp), .rlast(m_axi_B_rlast),
        .out_valid(B_tvalid), .out_ready(B_tready), .out_data(B_tdata)
    );
    assign m_axi_B_arsize = 3'($clog2(B_DATA / 8));
    assign m_axi_B_arburst = 2'b01;
    assign m_axi_B_arcache = 4'b0011;
    assign m_axi_B_arprot = 3'b000;

    // C: 16 × 16 padded, runs of 2
    wire C_tvalid, C_tready;
    wire [64-1:0] C_tdata;
    ithaca_writer #(
        .BITS(32), .PACK(2), .PACKS(128), .DATA(C_DATA),
        .RUN(2), .DIMS(2), .BEGINS({32'd0, 32'd0}), .ENDS({32'd13, 32'd15}),
        .AXES(3), .COUNTS({32'd2, 32'd8, 32'd8}), .STEPS({96'd18446744078004518898, -96'd1900014639622148587518, 96'd276701161109938241536}), .FIRST(96'd0)
    ) C_master (
        .clk(ap_clk), .rst(rst), .start(start), .base(base[64*2+:64]),
        .busy(busy[2]), .failed(failed[2]),
        .awvalid(m_axi_C_awvalid), .awready(m_axi_C_awready),
        .awaddr(m_axi_C_awaddr), .awlen(m_axi_C_awlen),
        .wvalid(m_axi_C_wvalid), .wready(m_axi_C_wready),
        .wdata(m_axi_C_wdata), .wstrb(m_axi_C_wstrb), .wlast(m_axi_C_wlast),
        .bvalid(m_axi_C_bvalid), .bready(m_axi_C_bready), .bresp(m_axi_C_bresp),
        .in_valid(C_tvalid), .in_ready(C_tready), .in_data(C_tdata)
    );
    assign m_axi_C_awsize = 3'($clog2(C_DATA / 8));
    assign m_axi_C_awburst = 2'b01;
    assign m_axi_C_awcache = 4'b0011;
    assign m_axi_C_awprot = 3'b000;

    array #(.RAM_STYLE(RAM_STYLE)) array (
        .clk(ap_clk), .rst(rst),
        .A_tvalid(A_tvalid),
        .A_tready(A_tready),
        .A_tdata(A_tdata),
        .B_tvalid(B_tvalid),
        .B_tready(B_tready),
        .B_tdata(B_tdata),
        .C_tvalid(C_tvalid),
        .C_tready(C_tready),
        .C_tdata(C_tdata)
    );
endmodule
