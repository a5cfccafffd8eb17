import importlib
import os
import sys
from pathlib import Path

Path("second.py").write_text("print('second as', __name__, __file__, __cached__)\nvalue = 1\n")
os.makedirs("package/inner")
Path("package/__init__.py").write_text("from . import inner\n")
Path("package/inner/__init__.py").write_text("import sys\nprint(__name__, __package__, __spec__.name)\n")
importlib.invalidate_caches()
import package  # noqa: E402
import second  # noqa: E402

print(second.value, package.inner, sorted(os.listdir()))
import __main__  # noqa: E402

print(__main__ is sys.modules[__name__], __main__.second is second)
import main  # noqa: E402

print("not reached" if main is __main__ else main.__name__)
