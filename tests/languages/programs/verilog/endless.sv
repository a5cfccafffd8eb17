module tb;
  reg clock = 0;
  always #1 clock = ~clock;
endmodule
