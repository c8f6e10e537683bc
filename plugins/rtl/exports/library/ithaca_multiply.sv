// SPDX-License-Identifier: 0BSD
// Use, change and sell this file in any product, without naming anybody. Part of what Ithaca writes.

// A product of floating-point numbers by ithaca_float_multiply, which is for simulation and open
// synthesis: registers follow it, for a tool that retimes. With the macro ITHACA_AMD a
// multiplication that takes cycles is one of AMD's floating_point IP, which must have that latency,
// be non-blocking and without reset (NOT CHECKED: no such tool was at hand). In Vivado:
//   create_ip -name floating_point -vendor xilinx.com -library ip -module_name ithaca_amd_multiply_fp32
//   set_property -dict {CONFIG.Operation_Type Multiply CONFIG.A_Precision_Type Single
//       CONFIG.Flow_Control NonBlocking CONFIG.Maximum_Latency false
//       CONFIG.C_Latency CYCLES} [get_ips ithaca_amd_multiply_fp32]
// and likewise ithaca_amd_multiply_fp16 (Half) and ithaca_amd_multiply_bf16 (Custom, exponent 8,
// fraction 8).
module ithaca_multiply #(
    parameter integer BITS = 32,
    parameter integer EXPONENT = 8,          // bits of it
    parameter integer CYCLES = 0
) (
    input  wire            clk,
    input  wire [BITS-1:0] a,
    input  wire [BITS-1:0] b,
    output wire [BITS-1:0] product
);
    generate
`ifdef ITHACA_AMD
        if (CYCLES > 0) begin : vendor
            initial $display("ithaca: multiplications of %0d bits take %0d cycles", BITS, CYCLES);
            wire unused;
            if (BITS == 32) begin : fp32
                ithaca_amd_multiply_fp32 ip (
                    .aclk(clk), .s_axis_a_tvalid(1'b1), .s_axis_a_tdata(a),
                    .s_axis_b_tvalid(1'b1), .s_axis_b_tdata(b),
                    .m_axis_result_tvalid(unused), .m_axis_result_tdata(product)
                );
            end else if (EXPONENT == 5) begin : fp16
                ithaca_amd_multiply_fp16 ip (
                    .aclk(clk), .s_axis_a_tvalid(1'b1), .s_axis_a_tdata(a),
                    .s_axis_b_tvalid(1'b1), .s_axis_b_tdata(b),
                    .m_axis_result_tvalid(unused), .m_axis_result_tdata(product)
                );
            end else begin : bf16
                ithaca_amd_multiply_bf16 ip (
                    .aclk(clk), .s_axis_a_tvalid(1'b1), .s_axis_a_tdata(a),
                    .s_axis_b_tvalid(1'b1), .s_axis_b_tdata(b),
                    .m_axis_result_tvalid(unused), .m_axis_result_tdata(product)
                );
            end
        end else
`endif
        if (1) begin : open
            wire [BITS-1:0] now;
            ithaca_float_multiply #(.BITS(BITS), .EXPONENT(EXPONENT)) multiply (
                .a(a), .b(b), .product(now)
            );
            ithaca_delay #(.BITS(BITS), .CYCLES(CYCLES)) later (.clk(clk), .in(now), .out(product));
        end
    endgenerate
endmodule
