// Sums, products and quotients of pairs of floating-point numbers, beside what they must be.

module pairs #(
    parameter integer BITS = 32,
    parameter integer EXPONENT = 8,
    parameter integer COUNT = 1,
    parameter FILE = "pairs.hex"
) (
    output integer right,
    output integer wrong
);
    reg [5*BITS-1:0] words[0:COUNT-1];       // a, b, their sum, product and quotient
    reg [BITS-1:0] a, b;
    wire [BITS-1:0] sum, product, quotient;
    ithaca_float_add #(.BITS(BITS), .EXPONENT(EXPONENT)) add (.a(a), .b(b), .sum(sum));
    ithaca_float_multiply #(.BITS(BITS), .EXPONENT(EXPONENT)) multiply (
        .a(a), .b(b), .product(product)
    );
    ithaca_divide #(.BITS(BITS), .EXPONENT(EXPONENT)) divide (
        .clk(1'b0), .a(a), .b(b), .quotient(quotient)
    );
    integer n;
    initial begin
        $readmemh(FILE, words);
        right = 0;
        wrong = 0;
        for (n = 0; n < COUNT; n = n + 1) begin
            {a, b} = words[n][3*BITS+:2*BITS];
            #1;
            if ({sum, product, quotient} === words[n][0+:3*BITS]) right = right + 1;
            else begin
                wrong = wrong + 1;
                if (wrong < 9) $display("%h %h: %h %h %h, not %h", a, b, sum, product, quotient, words[n][0+:3*BITS]);
            end
        end
    end
endmodule

module bench;
    localparam integer COUNT = `COUNT;
    integer right[0:2], wrong[0:2];
    pairs #(.BITS(32), .EXPONENT(8), .COUNT(COUNT), .FILE("fp32.hex")) fp32 (right[0], wrong[0]);
    pairs #(.BITS(16), .EXPONENT(5), .COUNT(COUNT), .FILE("fp16.hex")) fp16 (right[1], wrong[1]);
    pairs #(.BITS(16), .EXPONENT(8), .COUNT(COUNT), .FILE("bf16.hex")) bf16 (right[2], wrong[2]);
    initial begin
        #(COUNT + 2);
        $display("ithaca: cycles %0d right %0d wrong %0d", COUNT,
            right[0] + right[1] + right[2], wrong[0] + wrong[1] + wrong[2]);
        $finish;
    end
endmodule
