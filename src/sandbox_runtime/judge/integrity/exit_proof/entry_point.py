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


def blank_comments(code: str) -> str:
    """The same length, with blanks for comments and texts of languages that look like C."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)


def last_match(pattern: re.Pattern[str], code: str) -> re.Match[str] | None:
    """The last match outside of comments and texts, because tests and what starts them come last. Where all matches seem to be
    hidden, the last of them: what looks like the begin of a comment may be none, and hide the main function from us alone."""
    return _last(pattern, blank_comments(code)) or _last(pattern, code)


def closing_brace(code: str, start: int) -> int:
    """The place of the brace that closes the one before `start`, or -1."""
    depth = 1
    for found in re.compile(r"[{}]").finditer(blank_comments(code), start):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return -1


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    matches = deque(pattern.finditer(text), maxlen=1)
    return matches[0] if matches else None
