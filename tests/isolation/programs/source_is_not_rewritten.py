import linecache
from pathlib import Path

print(linecache.getline(__file__, 1), sorted(linecache.cache))
Path(__file__).write_text("gone\n")


def fails():
    raise ValueError("the text of the file is another by now")


fails()
