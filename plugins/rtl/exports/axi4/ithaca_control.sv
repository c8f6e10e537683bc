// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Registers on AXI4-Lite, as Vitis lays them out for ap_ctrl_hs:
// 0x00  bit 0 start, 1 done (cleared by reading), 2 idle, 3 ready (as done), 7 start again when done
// 0x04  bit 0 interrupts are enabled;  0x08  bit 0 when done, 1 when ready;  0x0c  what is pending
//       (a bit is inverted by writing 1)
// then the base address of each tensor at its place in ADDRESSES, low word first, and at ERRORS the
// tensors for which memory answered with an error, since the last start.
module ithaca_control #(
    parameter integer TENSORS = 3,
    parameter [32*TENSORS-1:0] ADDRESSES = 0,
    parameter integer ERRORS = 64
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire                  awvalid,
    output wire                  awready,
    input  wire [11:0]           awaddr,
    input  wire                  wvalid,
    output wire                  wready,
    input  wire [31:0]           wdata,
    input  wire [3:0]            wstrb,
    output reg                   bvalid,
    input  wire                  bready,
    output wire [1:0]            bresp,
    input  wire                  arvalid,
    output wire                  arready,
    input  wire [11:0]           araddr,
    output reg                   rvalid,
    input  wire                  rready,
    output reg  [31:0]           rdata,
    output wire [1:0]            rresp,
    output wire                  interrupt,
    output wire                  start,      // for a cycle
    input  wire                  busy,       // from the cycle after on
    input  wire [TENSORS-1:0]    failed,
    output reg  [64*TENSORS-1:0] base
);
    reg running, begun, done, again, enabled;
    reg [1:0] chosen, pending;
    reg [TENSORS-1:0] errors;
    reg go;
    assign start = go && !running;
    wire ends = running && begun && !busy;
    assign interrupt = enabled && |pending;

    assign awready = !rst && wvalid && awvalid && !bvalid;
    assign wready = awready;
    assign bresp = 2'b00;
    wire write = awready;
    wire [31:0] mask = {{8{wstrb[3]}}, {8{wstrb[2]}}, {8{wstrb[1]}}, {8{wstrb[0]}}};
    wire [31:0] bits = wdata & mask;

    assign arready = !rst && !rvalid;
    assign rresp = 2'b00;
    wire read = arvalid && arready;
    reg [31:0] word;
    integer t;
    always @* begin
        word = 0;
        case ({20'd0, araddr})
            32'h0: word = {24'd0, again, 3'd0, done, !running && !go, done, running || go};
            32'h4: word = {31'd0, enabled};
            32'h8: word = {30'd0, chosen};
            32'hc: word = {30'd0, pending};
            ERRORS: word = 32'(errors);
            default:
                for (t = 0; t < TENSORS; t = t + 1) begin
                    if ({20'd0, araddr} == ADDRESSES[32*t+:32]) word = base[64*t+:32];
                    if ({20'd0, araddr} == ADDRESSES[32*t+:32] + 4) word = base[64*t+32+:32];
                end
        endcase
    end

    always @(posedge clk)
        if (rst) begin
            {running, begun, done, again, enabled, go, bvalid, rvalid} <= 8'd0;
            {chosen, pending} <= 4'd0;
            errors <= {TENSORS{1'b0}};
            base <= {64 * TENSORS{1'b0}};
        end else begin
            if (bready) bvalid <= 1'b0;
            if (rready) rvalid <= 1'b0;
            if (read) begin
                rvalid <= 1'b1;
                rdata <= word;
                if (araddr == 12'h0) done <= 1'b0;
            end
            if (write) bvalid <= 1'b1;
            if (write && awaddr == 12'h0 && wstrb[0]) begin
                if (wdata[0] && !running) go <= 1'b1;
                again <= wdata[7];
            end
            if (write && awaddr == 12'h4 && wstrb[0]) enabled <= wdata[0];
            if (write && awaddr == 12'h8 && wstrb[0]) chosen <= wdata[1:0];
            if (write && awaddr == 12'hc) pending <= pending ^ bits[1:0];
            for (t = 0; t < TENSORS; t = t + 1) begin
                if (write && {20'd0, awaddr} == ADDRESSES[32*t+:32])
                    base[64*t+:32] <= (base[64*t+:32] & ~mask) | bits;
                if (write && {20'd0, awaddr} == ADDRESSES[32*t+:32] + 4)
                    base[64*t+32+:32] <= (base[64*t+32+:32] & ~mask) | bits;
            end
            begun <= running;
            errors <= start ? {TENSORS{1'b0}} : errors | failed;
            if (start) begin
                running <= 1'b1;
                go <= 1'b0;
            end else if (ends) begin
                running <= 1'b0;
                done <= 1'b1;
                go <= again;
                pending <= pending | chosen;
            end
        end
endmodule
