import sys


def endless(depth):
    return endless(depth + 1)


try:
    endless(0)
except RecursionError as error:
    print(error)


def depth(reached=0):
    try:
        return depth(reached + 1)
    except RecursionError:
        return reached


print(sys.getrecursionlimit() - depth() < 20)
sys.setrecursionlimit(5000)
print(sys.getrecursionlimit() - depth() < 20)
print(len(repr([[]] * 3)))
nested = []
for _ in range(100_000):
    nested = [nested]
del nested
endless(0)
