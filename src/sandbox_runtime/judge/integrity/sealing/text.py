"""Where a program begins: its main function, found in text."""

from __future__ import annotations

import re
from collections import deque

# What is opened and never closed goes to the end: looking for its end again and again would take quadratic time.
_HIDDEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|R\"([^()\\\s]{0,16})\(.*?(?:\)\1\"|\Z)"
    r"|\"\"\".*?(?:\"\"\"|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])'",
    re.DOTALL,
)


def blanked(code: str) -> str:
    """The same length, with blanks for comments and texts of languages that look like C."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)


def last_match(pattern: re.Pattern[str], code: str) -> re.Match[str] | None:
    """In what is neither comment nor text. Tests come last, and so does what starts them."""
    matches = deque(pattern.finditer(blanked(code)), maxlen=1)
    return matches[0] if matches else None
