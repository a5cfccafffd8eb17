val from = TextIO.openIn "input.txt";
val to = TextIO.openOut "output.txt";
TextIO.output (to, TextIO.inputAll from);
TextIO.closeOut to;
