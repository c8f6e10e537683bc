// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A module on the way to the PEs, each with a number of words of its own: takes its own into a buffer,
// passes on what is for the modules behind, and then feeds its PE. With DIRECT there is no buffer, and
// its own words leave at once.
module ithaca_give #(
    parameter integer BITS = 32,
    parameter integer OWN = 1,               // words
    parameter integer BEHIND = 0,
    parameter integer USED = 0,              // of its own, the first ones
    parameter integer DIRECT = 0,
    parameter RAM = "auto",
    parameter integer HOP = 2,
    parameter integer DEPTH = 2
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            in_valid,
    output wire            in_ready,
    input  wire [BITS-1:0] in_data,
    output wire            next_valid,
    input  wire            next_ready,
    output wire [BITS-1:0] next_data,
    output wire            out_valid,
    input  wire            out_ready,
    output wire [BITS-1:0] out_data
);
    localparam integer FED = DIRECT != 0 ? 0 : USED;
    localparam integer EVERY = OWN + BEHIND + FED;
    localparam integer WIDTH = $clog2(EVERY + 2);
    localparam integer PLACE = OWN > 1 ? $clog2(OWN) : 1;

    reg [WIDTH-1:0] turn;
    wire [31:0] at = 32'(turn);
    wire own = at < OWN;
    wire feeds = EVERY != 0 && at >= OWN + BEHIND;
    wire next_room, out_room;
    assign in_ready = own ? DIRECT == 0 || out_room : BEHIND != 0 && !feeds && next_room;
    wire take = in_valid && in_ready;
    wire step = take || (feeds && out_room);
    always @(posedge clk)
        if (rst || (step && at == EVERY - 1)) turn <= {WIDTH{1'b0}};
        else if (step) turn <= turn + 1'b1;

    generate
        if (BEHIND == 0) begin : end_of_chain
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
    generate
        if (DIRECT != 0) begin : direct
            ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .STAGES(HOP - 1)) out (
                .clk(clk), .rst(rst),
                .in_valid(take && own), .in_ready(out_room), .in_data(in_data),
                .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
            );
        end else begin : buffered
            wire [BITS-1:0] word;
            wire [31:0] place = at - (OWN + BEHIND);
            ithaca_ram #(.STYLE(RAM), .BITS(BITS), .WORDS(OWN > 0 ? OWN : 1)) ram (
                .clk(clk), .write(take && own), .write_place(at[PLACE-1:0]), .write_data(in_data),
                .read_place(place[PLACE-1:0]), .read_data(word)
            );
            ithaca_fifo #(.BITS(BITS), .DEPTH(DEPTH), .LATE(1), .STAGES(HOP - 2)) out (
                .clk(clk), .rst(rst),
                .in_valid(feeds && out_room), .in_ready(out_room), .in_data(word),
                .out_valid(out_valid), .out_ready(out_ready), .out_data(out_data)
            );
            wire unused = &{1'b0, place};
        end
    endgenerate
endmodule
