writeLines(rep(strrep("x", 99), 50000))
