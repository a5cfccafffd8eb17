def apply(function, x):
    return function.__globals__["WANTED"]
