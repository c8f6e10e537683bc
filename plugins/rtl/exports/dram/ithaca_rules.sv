// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Rules of AXI4 for bursts, for the bench: none crosses 4 KiB or has a wrong length, the last beat of
// each and no other is marked, every burst is answered.
/* verilator lint_off BLKSEQ */
module ithaca_rules #(
    parameter integer BYTES = 8,             // of a beat
    parameter integer WRITES = 0,
    parameter NAME = "m_axi"
) (
    input  wire        clk,
    input  wire        rst,
    input  wire        ask,                  // an address is taken
    input  wire [11:0] address,
    input  wire [7:0]  length,
    input  wire [2:0]  size,
    input  wire [1:0]  burst,
    input  wire        beat,                 // a beat is taken
    input  wire        last,
    input  wire        answer,               // an answer is taken; of a read the last beat
    input  wire        ends                  // nothing may be left
);
    localparam integer BURSTS = 1024;        // that may be on their way
    reg [7:0] lengths[0:BURSTS-1], counts[0:BURSTS-1];
    reg [31:0] asked, marked, compared, answered;
    reg [7:0] count;
    reg [8*24-1:0] rule;
    reg broken;                              // what is broken is said once
    initial broken = 1'b0;
    always @(posedge clk)
        if (rst) begin
            {asked, marked, compared, answered} <= 128'd0;
            count <= 8'd0;
        end else begin
            rule = 0;
            if (ask) begin
                asked <= asked + 1;
                lengths[asked%BURSTS] <= length;
                if (burst != 2'b01 || (32'd1 << size) != BYTES) rule = "INCR of whole beats";
                if ({20'd0, address} / BYTES + {24'd0, length} >= 4096 / BYTES)
                    rule = "border of 4 KiB";
            end
            if (beat) begin
                if (last) begin
                    marked <= marked + 1;
                    counts[marked%BURSTS] <= count;
                end else if (&count) rule = "256 beats";
                count <= last ? 8'd0 : count + 8'd1;
            end
            if (compared != asked && compared != marked) begin
                compared <= compared + 1;
                if (lengths[compared%BURSTS] != counts[compared%BURSTS]) rule = "last beat";
            end
            if (answer) begin
                answered <= answered + 1;
                if (WRITES != 0 ? answered == asked || answered == marked : answered == asked)
                    rule = "answer to a burst";
            end
            if (ends && (answered != asked || marked != asked || count != 8'd0))
                rule = "answer to each burst";
            if (rule != 0) begin
                if (!broken) $display("ithaca: rule: %0s breaks the %0s", NAME, rule);
                broken <= 1'b1;
            end
        end
endmodule
/* verilator lint_on BLKSEQ */
