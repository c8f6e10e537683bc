// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Values that stay in a PE, in order: from an operator that has each READY cycles after its put, to
// one that needs it NEED cycles after its take. A value can be taken as early as that allows.
module ithaca_keep #(
    parameter integer BITS = 32,
    parameter integer WORDS = 1,             // held at most
    parameter integer READY = 0,
    parameter integer NEED = 0
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            put,
    input  wire [BITS-1:0] in_data,          // READY cycles after put
    output wire            there,
    input  wire            take,
    output wire [BITS-1:0] out_data          // NEED cycles after take
);
    localparam integer LATE = READY > NEED ? READY - NEED : 0;
    localparam integer COUNT = $clog2(WORDS + 1);
    localparam integer PLACE = WORDS > 1 ? $clog2(WORDS) : 1;
    localparam [PLACE-1:0] LAST = PLACE'(WORDS - 1);

    reg [READY:0] puts;
    reg [NEED:0] takes;
    wire [READY+1:0] every_put = {puts, put};
    wire [NEED+1:0] every_take = {takes, take};
    always @(posedge clk) begin
        puts <= rst ? {READY + 1{1'b0}} : every_put[READY:0];
        takes <= rst ? {NEED + 1{1'b0}} : every_take[NEED:0];
    end

    wire comes = every_put[LATE > 0 ? LATE - 1 : 0];
    reg [COUNT-1:0] coming;                  // values that can be taken
    assign there = coming != 0;
    always @(posedge clk)
        if (rst) coming <= {COUNT{1'b0}};
        else if (comes != take) coming <= comes ? coming + 1'b1 : coming - 1'b1;

    // a value that is needed as soon as it is ready goes by; where READY <= NEED none is
    (* ram_style = "distributed" *) reg [BITS-1:0] ring[0:WORDS-1];
    reg [COUNT-1:0] held;
    reg [PLACE-1:0] first, free;
    wire by = READY > NEED && held == 0;
    wire leaves = every_take[NEED] && !by;
    wire stays = every_put[READY] && !(by && every_take[NEED]);
    generate
        if (READY > NEED) begin : early
            assign out_data = by ? in_data : ring[first];
        end else begin : late
            assign out_data = ring[first];
        end
    endgenerate
    always @(posedge clk) begin
        if (stays) ring[free] <= in_data;
        if (rst) begin
            held <= {COUNT{1'b0}};
            first <= {PLACE{1'b0}};
            free <= {PLACE{1'b0}};
        end else begin
            if (stays != leaves) held <= stays ? held + 1'b1 : held - 1'b1;
            if (stays) free <= free == LAST ? {PLACE{1'b0}} : free + 1'b1;
            if (leaves) first <= first == LAST ? {PLACE{1'b0}} : first + 1'b1;
        end
    end
    wire unused = &{1'b0, every_put, every_take};
endmodule
