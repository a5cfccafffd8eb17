line=${(l:99::x:)}
repeat 50000 print -r -- $line
