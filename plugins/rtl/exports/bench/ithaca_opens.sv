// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// Memory for the bench opens a burst for each row of a tile, from when it is waited for.
module ithaca_opens #(
    parameter integer BURST = 0,             // cycles that this takes
    parameter integer LINE = 1               // packs of a row
) (
    input  wire clk,
    input  wire rst,
    input  wire waits,
    input  wire moves,
    output wire open
);
    reg [31:0] left, moved;
    assign open = left == 0;
    always @(posedge clk)
        if (rst || (moves && moved == LINE - 1)) begin
            left <= BURST;
            moved <= 0;
        end else begin
            if (moves) moved <= moved + 1;
            if (waits && !open) left <= left - 1;
        end
endmodule
