let () =
  let input = open_in_bin "input.txt" and output = open_out_bin "output.txt" in
  output_string output (really_input_string input (in_channel_length input));
  close_out output
