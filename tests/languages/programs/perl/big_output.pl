print "x" x 99, "\n" for 1 .. 50000;
