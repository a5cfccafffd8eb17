def apply(function, x):
    return function.__closure__[0].cell_contents[x]
