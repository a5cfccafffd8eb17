if true
    echo never
