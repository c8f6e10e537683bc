// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A module without a buffer on the way to the PEs: hands its own words on, then passes the others.
module ithaca_split #(
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
    output wire            out_valid,
    input  wire            out_ready,
    output wire [BITS-1:0] out_data,
    output wire            next_valid,
    input  wire            next_ready,
    output wire [BITS-1:0] next_data
);
    localparam integer WIDTH = $clog2(OWN + OTHERS) + 1;
    reg [WIDTH-1:0] turn;
    wire own = OTHERS == 0 || turn < WIDTH'(OWN);
    wire out_room, next_room;
    assign in_ready = own ? out_room : next_room;
    wire take = in_valid && in_ready;
    always @(posedge clk)
        if (rst || (take && turn == WIDTH'(OWN + OTHERS - 1))) turn <= {WIDTH{1'b0}};
        else if (take) turn <= turn + 1'b1;

    ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) out (
        .clk(clk), .rst(rst),
        .in_valid(take && own), .in_ready(out_room), .in_data(in_data),
        .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
    );
    generate
        if (OTHERS == 0) begin : end_of_chain
            assign next_room = 1'b0;
            assign next_valid = 1'b0;
            assign next_data = {BITS{1'b0}};
            wire unused = next_ready;
        end else begin : chain
            ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) next (
                .clk(clk), .rst(rst),
                .in_valid(take && !own), .in_ready(next_room), .in_data(in_data),
                .out_valid(next_valid), .out_ready(next_ready), .out_data(next_data)
            );
        end
    endgenerate
endmodule
