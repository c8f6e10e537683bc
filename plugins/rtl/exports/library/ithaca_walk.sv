// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// The places of a nest of loops, one after the other: a chain of counters and one adder. With
// RUN_TIME the turns, steps and the first place are sizes, which change only between two walks.
module ithaca_walk #(
    parameter integer AXES = 1,              // loops
    parameter [32*AXES-1:0] COUNTS = 1,      // turns of each, at most; the innermost in the lowest 32 bits
    parameter integer STEP = 32,             // bits of a step
    parameter [STEP*AXES-1:0] STEPS = 1,     // added to the place where that loop goes on
    parameter [STEP-1:0] FIRST = 0,          // place of the first turn
    parameter integer BITS = 1,              // of a place
    parameter integer RUN_TIME = 0           // 1: by sizes, with STEP = 32
) (
    input  wire            clk,
    input  wire            rst,
    input  wire [32*(2*AXES+1)-1:0] sizes,   // first place, steps, turns
    input  wire            step,             // go on, at the end to the first place
    output reg  [BITS-1:0] place,
    output wire [AXES-1:0] first,            // loops in their first turn
    output wire [AXES-1:0] last              // loops in their last turn
);

    wire [32*AXES-1:0] counts = RUN_TIME != 0 ? sizes[0+:32*AXES] : COUNTS;
    wire [STEP*AXES-1:0] steps = RUN_TIME != 0 ? (STEP*AXES)'(sizes[32*AXES+:32*AXES]) : STEPS;
    wire [BITS-1:0] begins = RUN_TIME != 0 ? BITS'(sizes[64*AXES+:32]) : BITS'(FIRST);
    wire unused = &{1'b0, sizes, counts, steps};

    genvar axis;
    generate
        for (axis = 0; axis < AXES; axis = axis + 1) begin : loops
            localparam integer COUNT = COUNTS[32*axis+:32];
            localparam [AXES-1:0] INNER = {AXES{1'b1}} >> (AXES - axis);
            if (COUNT == 1) begin : once
                assign first[axis] = 1'b1;
                assign last[axis] = 1'b1;
            end else begin : turns
                localparam integer WIDTH = $clog2(COUNT);
                reg [WIDTH-1:0] turn;
                assign first[axis] = turn == {WIDTH{1'b0}};
                assign last[axis] = turn == WIDTH'(counts[32*axis+:32] - 32'd1);
                always @(posedge clk)
                    if (rst) turn <= {WIDTH{1'b0}};
                    else if (step && (last & INNER) == INNER)
                        turn <= last[axis] ? {WIDTH{1'b0}} : turn + 1'b1;
            end
        end
    endgenerate

    reg [BITS-1:0] delta;                    // of the innermost loop that is not in its last turn
    integer a;
    always @* begin
        delta = {BITS{1'b0}};
        for (a = AXES - 1; a >= 0; a = a - 1)
            if (!last[a]) delta = steps[STEP*a+:BITS];
    end
    always @(posedge clk)
        if (rst || (step && &last)) place <= begins;
        else if (step) place <= place + delta;
        else if (RUN_TIME != 0 && &first) place <= begins;  // sizes may have changed
endmodule
