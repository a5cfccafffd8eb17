"""Checks of prompt arguments: length, form, content. Each check returns an error text, or "" if the value is valid."""

from __future__ import annotations

import re
from collections.abc import Callable

Check = Callable[[str], str]
MAX_CHARACTERS = 200_000


def length(max_characters: int = MAX_CHARACTERS, min_characters: int = 0) -> Check:
    def check(value: str) -> str:
        if len(value) > max_characters:
            return f"has more than {max_characters} characters"
        return f"has fewer than {min_characters} characters" if len(value.strip()) < min_characters else ""

    return check


def form(pattern: str, like: str) -> Check:
    """Check that a value matches the pattern. An empty value passes; `length` rejects it."""
    known = re.compile(pattern)
    return lambda value: "" if not value or known.fullmatch(value) else f"is not of the form {like}"


def content(*words: str) -> Check:
    """Check that a value is one of these words, ignoring case."""
    return lambda value: "" if value.strip().lower() in words else f"is not one of {', '.join(words)}"
