// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// The runs of a tensor's elements that follow each other in memory, one after the other: how many
// elements come before those that exist (they are zeros, or dropped), how many exist, and where.
// A place has a field of 32 bits for each dimension of the padded tensor, and above them one for the
// address, in elements; all of them change by one adder.
module ithaca_runs #(
    parameter integer DIMS = 1,
    parameter integer AXES = 1,              // loops over runs
    parameter [32*AXES-1:0] COUNTS = 1,
    parameter [32*(DIMS+1)*AXES-1:0] STEPS = 0,
    parameter [32*(DIMS+1)-1:0] FIRST = 0,
    parameter [32*DIMS-1:0] BEGINS = 0,      // where the tensor begins in the padded one
    parameter [32*DIMS-1:0] ENDS = 1,        // and ends
    parameter integer RUN = 1,               // elements of a run, along the lowest dimension
    parameter integer WIDTH = $clog2(RUN + 1)
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             start,
    output reg              valid,
    input  wire             ready,
    output wire [31:0]      place,           // of the first element that exists
    output wire [WIDTH-1:0] absent,
    output wire [WIDTH-1:0] count
);
    localparam integer BITS = 32 * (DIMS + 1);
    wire step = valid && ready;
    wire [AXES-1:0] unused_first, last;
    wire [BITS-1:0] at;
    ithaca_walk #(
        .AXES(AXES), .COUNTS(COUNTS), .STEP(BITS), .STEPS(STEPS), .FIRST(FIRST), .BITS(BITS)
    ) walk (
        .clk(clk), .rst(rst), .sizes({32*(2*AXES+1){1'b0}}), .step(step), .place(at),
        .first(unused_first), .last(last)
    );
    always @(posedge clk)
        if (rst) valid <= 1'b0;
        else if (start) valid <= 1'b1;
        else if (step && &last) valid <= 1'b0;

    wire [DIMS-1:0] outside;
    assign outside[0] = 1'b0;
    genvar d;
    generate
        for (d = 1; d < DIMS; d = d + 1) begin : dims
            assign outside[d] = at[32*d+:32] - BEGINS[32*d+:32] >= ENDS[32*d+:32] - BEGINS[32*d+:32];
        end
    endgenerate
    wire [31:0] from = at[31:0];
    wire [31:0] begins = $signed(from) < $signed(BEGINS[31:0]) ? BEGINS[31:0] : from;
    wire [31:0] ends = from + RUN > ENDS[31:0] ? ENDS[31:0] : from + RUN;
    wire exists = !(|outside) && begins < ends;
    assign absent = exists ? WIDTH'(begins - from) : WIDTH'(RUN);
    assign count = exists ? WIDTH'(ends - begins) : {WIDTH{1'b0}};
    assign place = at[32*DIMS+:32] + (begins - from);
endmodule
