def helper(x):
    return x * 2


def double(x):
    return helper(x)
