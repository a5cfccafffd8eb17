import warnings
from pathlib import Path

Path("second_level.py").write_text("import warnings\ndef old():\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\n")
import second_level  # noqa: E402


def caller():
    warnings.warn("from a function", stacklevel=1)
    warnings.warn("of the caller", DeprecationWarning, stacklevel=2)
    warnings.warn("above everything", stacklevel=9)


caller()
second_level.old()
warnings.warn("plain", stacklevel=1)
print(warnings.filters)
text = "\\d"
print(eval(r"'\d'"))
