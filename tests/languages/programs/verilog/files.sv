module tb;
  integer from, to, letter;
  initial begin
    from = $fopen("input.txt", "r");
    to = $fopen("output.txt", "w");
    letter = $fgetc(from);
    while (letter != -1) begin
      $fwrite(to, "%c", letter[7:0]);
      letter = $fgetc(from);
    end
    $fclose(to);
  end
endmodule
