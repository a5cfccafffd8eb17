my $line = "x" x 99;
say $line for ^50000;
