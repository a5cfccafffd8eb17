assert name(1) == "one"
