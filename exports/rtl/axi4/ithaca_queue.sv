// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Beats that were asked for, in block RAM; who asks knows that there is room.
module ithaca_queue #(
    parameter integer BITS = 64,
    parameter integer WORDS = 256
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            in_valid,
    input  wire [BITS-1:0] in_data,
    output wire            out_valid,
    input  wire            out_ready,
    output wire [BITS-1:0] out_data
);
    localparam integer PLACE = $clog2(WORDS);
    reg [PLACE-1:0] put, take;
    reg [PLACE:0] held;
    wire room;
    wire read = held != {PLACE + 1{1'b0}} && room;
    always @(posedge clk)
        if (rst) begin
            put <= {PLACE{1'b0}};
            take <= {PLACE{1'b0}};
            held <= {PLACE + 1{1'b0}};
        end else begin
            if (in_valid) put <= put + 1'b1;
            if (read) take <= take + 1'b1;
            held <= held + {{PLACE{1'b0}}, in_valid} - {{PLACE{1'b0}}, read};
        end
    wire [BITS-1:0] data;
    ithaca_ram #(.STYLE("auto"), .BITS(BITS), .WORDS(WORDS)) ram (
        .clk(clk), .write(in_valid), .write_place(put), .write_data(in_data),
        .read_place(take), .read_data(data)
    );
    ithaca_fifo #(.BITS(BITS), .DEPTH(2), .LATE(1), .STAGES(0)) out (
        .clk(clk), .rst(rst),
        .in_valid(read), .in_ready(room), .in_data(data),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );
endmodule
