import io
import sys


def order(items):
    kept, sys.stdout = sys.stdout, io.StringIO()
    print("quiet")
    sys.stdout = kept
    return sorted(items)
