for ($i = 0; $i < 50000; $i++) echo str_repeat("x", 99), "\n";
