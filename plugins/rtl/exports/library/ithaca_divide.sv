// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A quotient of floating-point numbers; how it rounds is said in ithaca_float_round. Digits are
// computed one after the other, a bit each, with registers spread evenly among them. With the macro
// ITHACA_AMD a division that takes cycles is one of AMD's floating_point IP, which must have that
// latency, be non-blocking and without reset (NOT CHECKED: no such tool was at hand). In Vivado:
//   create_ip -name floating_point -vendor xilinx.com -library ip -module_name ithaca_amd_divide_fp32
//   set_property -dict {CONFIG.Operation_Type Divide CONFIG.A_Precision_Type Single
//       CONFIG.Flow_Control NonBlocking CONFIG.Maximum_Latency false
//       CONFIG.C_Latency CYCLES} [get_ips ithaca_amd_divide_fp32]
// and likewise ithaca_amd_divide_fp16 (Half) and ithaca_amd_divide_bf16 (Custom, exponent 8, fraction
// 8).
module ithaca_divide #(
    parameter integer BITS = 32,
    parameter integer EXPONENT = 8,          // bits of it
    parameter integer CYCLES = 0
) (
    input  wire            clk,
    input  wire [BITS-1:0] a,
    input  wire [BITS-1:0] b,
    output wire [BITS-1:0] quotient
);
    localparam integer FRACTION = BITS - 1 - EXPONENT;
    localparam integer SIZE = FRACTION + 1;  // of a significand
    localparam integer DIGITS = FRACTION + 3;
    localparam integer PLACES = DIGITS + 1;  // for registers: behind each digit, and at the end
    localparam integer MORE = EXPONENT + 6;
    localparam integer STATE = MORE + SIZE + SIZE + 1 + DIGITS;
    localparam signed [EXPONENT+1:0] BIAS = (1 << (EXPONENT - 1)) - 1;

    genvar n;
    generate
`ifdef ITHACA_AMD
        if (CYCLES > 0) begin : vendor
            initial $display("ithaca: divisions of %0d bits take %0d cycles", BITS, CYCLES);
            wire unused;
            if (BITS == 32) begin : fp32
                ithaca_amd_divide_fp32 ip (
                    .aclk(clk), .s_axis_a_tvalid(1'b1), .s_axis_a_tdata(a),
                    .s_axis_b_tvalid(1'b1), .s_axis_b_tdata(b),
                    .m_axis_result_tvalid(unused), .m_axis_result_tdata(quotient)
                );
            end else if (EXPONENT == 5) begin : fp16
                ithaca_amd_divide_fp16 ip (
                    .aclk(clk), .s_axis_a_tvalid(1'b1), .s_axis_a_tdata(a),
                    .s_axis_b_tvalid(1'b1), .s_axis_b_tdata(b),
                    .m_axis_result_tvalid(unused), .m_axis_result_tdata(quotient)
                );
            end else begin : bf16
                ithaca_amd_divide_bf16 ip (
                    .aclk(clk), .s_axis_a_tvalid(1'b1), .s_axis_a_tdata(a),
                    .s_axis_b_tvalid(1'b1), .s_axis_b_tdata(b),
                    .m_axis_result_tvalid(unused), .m_axis_result_tdata(quotient)
                );
            end
        end else
`endif
        if (1) begin : open
            wire [EXPONENT-1:0] first = a[FRACTION+:EXPONENT];
            wire [EXPONENT-1:0] second = b[FRACTION+:EXPONENT];
            wire nan = (&first && a[FRACTION-1:0] != 0) || (&second && b[FRACTION-1:0] != 0);
            wire invalid = nan || (&first && &second) || (first == 0 && second == 0);
            wire signed [EXPONENT+1:0] exponent =
                $signed({2'b00, first}) - $signed({2'b00, second}) + BIAS;
            wire [MORE-1:0] more = {
                a[BITS-1] ^ b[BITS-1], exponent, first == 0 || &second, &first || second == 0, invalid
            };

            // the divisor, what is left, and the digits so far: a unit, then those behind it
            wire [STATE-1:0] states[0:DIGITS];
            assign states[0] = {
                more, 1'b1, b[FRACTION-1:0], 2'b01, a[FRACTION-1:0], {DIGITS{1'b0}}
            };
            for (n = 0; n < DIGITS; n = n + 1) begin : digits
                wire [MORE+SIZE-1:0] kept = states[n][STATE-1-:MORE+SIZE];
                wire [SIZE:0] left = states[n][DIGITS+:SIZE+1];
                wire [SIZE:0] divisor = {1'b0, kept[SIZE-1:0]};
                wire digit = left >= divisor;
                wire [SIZE:0] rest = digit ? left - divisor : left;
                ithaca_delay #(
                    .BITS(STATE), .CYCLES((n + 1) * CYCLES / PLACES - n * CYCLES / PLACES)
                ) later (
                    .clk(clk), .in({kept, rest[SIZE-1:0], 1'b0, states[n][DIGITS-2:0], digit}),
                    .out(states[n+1])
                );
                wire unused = &{1'b0, rest[SIZE], states[n][DIGITS-1]};
            end

            wire sign, zero, infinite, wrong;
            wire signed [EXPONENT+1:0] final_exponent;
            wire [SIZE-1:0] divided;
            wire [SIZE:0] left;
            wire [DIGITS-1:0] found, normal;
            assign {sign, final_exponent, zero, infinite, wrong, divided, left, found} = states[DIGITS];
            assign normal = found[DIGITS-1] ? found : found << 1;
            wire [BITS-1:0] now;
            ithaca_float_round #(.BITS(BITS), .EXPONENT(EXPONENT)) round (
                .sign(sign),
                .exponent(final_exponent - $signed((EXPONENT + 2)'(!found[DIGITS-1]))),
                .fraction(normal[DIGITS-2-:FRACTION]), .half(normal[1]), .rest(normal[0] || left != 0),
                .zero(zero), .infinite(infinite), .invalid(wrong), .number(now)
            );
            ithaca_delay #(.BITS(BITS), .CYCLES(CYCLES - DIGITS * CYCLES / PLACES)) later (
                .clk(clk), .in(now), .out(quotient)
            );
            wire unused = &{1'b0, divided, normal[DIGITS-1]};
        end
    endgenerate
endmodule
