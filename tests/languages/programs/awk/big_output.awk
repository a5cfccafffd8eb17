BEGIN {
    line = sprintf("%99s", "")
    gsub(" ", "x", line)
    for (row = 0; row < 50000; row++) print line
}
