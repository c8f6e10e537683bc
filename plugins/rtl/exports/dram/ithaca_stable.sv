// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Rule of AXI, for the bench: what is offered stays as it is until it is taken, and nothing is offered
// in reset.
module ithaca_stable #(
    parameter integer BITS = 1,
    parameter NAME = "channel"
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            valid,
    input  wire            ready,
    input  wire [BITS-1:0] data
);
    reg offered;
    reg [BITS-1:0] kept;
    reg broken;                              // what is broken is said once
    initial broken = 1'b0;
    always @(posedge clk) begin
        offered <= !rst && valid && !ready;
        kept <= data;
        if (rst ? valid === 1'b1 : offered && (!valid || kept !== data)) begin
            if (!broken) $display("ithaca: rule: %0s does not stay until it is taken", NAME);
            broken <= 1'b1;
        end
    end
endmodule
