module tb;
  initial $fatal(1, "boom");
endmodule
