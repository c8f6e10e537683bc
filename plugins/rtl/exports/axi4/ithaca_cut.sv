// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Cuts runs into pieces that stand in one beat each: of elements that exist, or of those that do not.
module ithaca_cut #(
    parameter integer ELEMENTS = 8,          // of a beat
    parameter integer RUN = 1,               // elements
    parameter integer WIDTH = $clog2(RUN + 1),
    parameter integer PLACE = ELEMENTS > 1 ? $clog2(ELEMENTS) : 1,
    parameter integer COUNT = $clog2(ELEMENTS + 1)
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             in_valid,
    output wire             in_ready,
    input  wire [PLACE-1:0] in_place,        // of the first that exists, in its beat
    input  wire [WIDTH-1:0] in_before,
    input  wire [WIDTH-1:0] in_count,
    output wire             valid,
    input  wire             step,
    output wire             exists,
    output wire [COUNT-1:0] count,
    output reg  [PLACE-1:0] place
);
    localparam integer WIDE = WIDTH > COUNT ? WIDTH : COUNT;
    reg [WIDTH-1:0] left, begins, ends;      // elements behind: this one, the first, the last that exists
    assign valid = left != {WIDTH{1'b0}};
    assign exists = left <= begins && left > ends;
    wire [WIDTH-1:0] border = left > begins ? begins : exists ? ends : {WIDTH{1'b0}};
    wire [WIDE-1:0] more = WIDE'(left - border);
    wire [WIDE-1:0] most = WIDE'(ELEMENTS) - (exists ? WIDE'(place) : {WIDE{1'b0}});
    assign count = COUNT'(more < most ? more : most);
    assign in_ready = !valid || (step && WIDE'(left) == WIDE'(count));
    always @(posedge clk)
        if (rst) left <= {WIDTH{1'b0}};
        else if (in_valid && in_ready) begin
            left <= WIDTH'(RUN);
            begins <= WIDTH'(RUN) - in_before;
            ends <= WIDTH'(RUN) - in_before - in_count;
            place <= in_place;
        end else if (step) begin
            left <= left - WIDTH'(count);
            if (exists) place <= {PLACE{1'b0}};
        end
endmodule
