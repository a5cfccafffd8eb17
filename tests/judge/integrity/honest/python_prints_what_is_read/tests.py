import io
import sys
from contextlib import redirect_stdout
from unittest.mock import patch

out = io.StringIO()
with redirect_stdout(out):
    greet("you")
assert out.getvalue() == "Hello, you\n"
kept, sys.stdout = sys.stdout, io.StringIO()
greet("me")
printed, sys.stdout = sys.stdout.getvalue(), kept
assert printed == "Hello, me\n"
with patch("builtins.input", return_value=" you "):
    assert ask() == "you"
