// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A module without a buffer on the way from the PEs: sends its own words, then passes the others.
module ithaca_merge #(
    parameter integer BITS = 8,
    parameter integer OWN = 1,               // words
    parameter integer OTHERS = 0,
    parameter integer HOP = 2,
    parameter integer DEPTH = 2
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            in_valid,
    output wire            in_ready,
    input  wire [BITS-1:0] in_data,
    input  wire            next_valid,
    output wire            next_ready,
    input  wire [BITS-1:0] next_data,
    output wire            out_valid,
    input  wire            out_ready,
    output wire [BITS-1:0] out_data
);
    localparam integer WIDTH = $clog2(OWN + OTHERS) + 1;
    reg [WIDTH-1:0] turn;
    wire own = OTHERS == 0 || turn < WIDTH'(OWN);
    wire room;
    assign in_ready = own && room;
    assign next_ready = !own && room;
    wire send = own ? in_valid && room : next_valid && room;
    always @(posedge clk)
        if (rst || (send && turn == WIDTH'(OWN + OTHERS - 1))) turn <= {WIDTH{1'b0}};
        else if (send) turn <= turn + 1'b1;

    ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) out (
        .clk(clk), .rst(rst),
        .in_valid(send), .in_ready(room), .in_data(own ? in_data : next_data),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );
endmodule
