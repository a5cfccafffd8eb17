with open("input.txt") as source, open("output.txt", "w") as target:
    target.write(source.read())
