import sys


def order(items):
    return None


sys.exit(0)
