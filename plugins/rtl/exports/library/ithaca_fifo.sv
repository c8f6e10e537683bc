// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A channel: a word that enters in cycle t can leave in cycle t + LATE + STAGES + 1. Room and valid
// come from registers, so no path crosses it; room is by credits, so nothing before it ever stalls.
// The word itself comes LATE cycles after its push: a memory's read register, or a pipeline of
// arithmetic, stands for stages of the channel.
module ithaca_fifo #(
    parameter integer BITS = 8,
    parameter integer DEPTH = 2,             // words beside those on their way
    parameter integer LATE = 0,
    parameter integer STAGES = 1
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            in_valid,
    output reg             in_ready,
    input  wire [BITS-1:0] in_data,          // LATE cycles after in_valid
    output reg             out_valid,
    input  wire            out_ready,
    output wire [BITS-1:0] out_data
);
    localparam integer CAPACITY = DEPTH + LATE + STAGES;
    localparam integer COUNT = $clog2(CAPACITY + 1);
    localparam integer PLACE = CAPACITY > 1 ? $clog2(CAPACITY) : 1;
    localparam [PLACE-1:0] LAST = PLACE'(CAPACITY - 1);

    wire push = in_valid && in_ready;
    wire pop = out_valid && out_ready;

    reg [COUNT-1:0] credits;
    always @(posedge clk)
        if (rst) begin
            credits <= COUNT'(CAPACITY);
            in_ready <= 1'b1;
        end else if (push != pop) begin
            credits <= push ? credits - 1'b1 : credits + 1'b1;
            in_ready <= !(push && credits == COUNT'(1));
        end

    reg [LATE+STAGES-1:0] coming;            // words on their way
    generate
        if (LATE + STAGES > 1) begin : way
            always @(posedge clk)
                coming <= rst ? {LATE + STAGES{1'b0}} : {coming[LATE+STAGES-2:0], push};
        end else begin : step
            always @(posedge clk) coming <= !rst && push;
        end
    endgenerate
    wire store = coming[LATE+STAGES-1];

    wire [BITS-1:0] arrived;
    generate
        if (STAGES == 0) begin : straight
            assign arrived = in_data;
        end else begin : stages
            reg [STAGES*BITS-1:0] words;
            always @(posedge clk) words <= (STAGES * BITS)'({words, in_data});
            assign arrived = words[(STAGES-1)*BITS+:BITS];
        end
    endgenerate

    (* ram_style = "distributed" *) reg [BITS-1:0] ring[0:CAPACITY-1];
    reg [PLACE-1:0] put, take;
    reg [COUNT-1:0] held;
    assign out_data = ring[take];
    always @(posedge clk) begin
        if (store) ring[put] <= arrived;
        if (rst) begin
            put <= {PLACE{1'b0}};
            take <= {PLACE{1'b0}};
            held <= {COUNT{1'b0}};
            out_valid <= 1'b0;
        end else begin
            if (store) put <= put == LAST ? {PLACE{1'b0}} : put + 1'b1;
            if (pop) take <= take == LAST ? {PLACE{1'b0}} : take + 1'b1;
            if (store != pop) begin
                held <= store ? held + 1'b1 : held - 1'b1;
                out_valid <= store || held != COUNT'(1);
            end
        end
    end
endmodule
