set line (string repeat -n 99 x)
for row in (seq 50000)
    echo $line
end
