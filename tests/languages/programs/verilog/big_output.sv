module tb;
  integer row;
  initial for (row = 0; row < 50000; row = row + 1) $display("%s", {99{"x"}});
endmodule
