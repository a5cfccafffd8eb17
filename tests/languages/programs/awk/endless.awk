BEGIN { while (1) {} }
