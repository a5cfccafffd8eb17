try:
    name = input()
except EOFError:
    name = ""


def order(items):
    return sorted(items)
