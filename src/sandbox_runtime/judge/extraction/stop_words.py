"""Cut a completion where it ends."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sandbox_runtime.errors import InvalidRequest

PATTERN = "re:"
_MAX_CHARACTERS, _MAX_ALTERNATIVES = 100, 4
_QUANTIFIER = re.compile(r"(?<!\\)(?:\\\\)*(?:[*+{]|(?<!\()\?)")


def trim_stop_tokens(text: str, tokens: Iterable[str]) -> str:
    """Return the text up to the first of the tokens. A token that begins with `re:` is a regular expression."""
    positions = [position for token in tokens if (position := _position(text, token)) >= 0]
    return text[: min(positions)] if positions else text


def text_before(text: str, mark: str) -> str:
    return text.partition(mark)[0]


def before_first_unindented_line(text: str) -> str:
    """Return the text up to the first later line that is neither empty nor indented, which ends a function's body."""
    match = re.search(r"\n(?=\S)", text)
    return text[: match.start()] if match else text


def _position(text: str, token: str) -> int:
    if not token.startswith(PATTERN):
        return text.find(token) if token else -1
    match = _compile_pattern(token.removeprefix(PATTERN)).search(text)
    return match.start() if match else -1


def _compile_pattern(pattern: str) -> re.Pattern[str]:
    """Rows come from untrusted sources: refuse a pattern that could take more than linear time. Without repetition, and with few
    alternatives, none can."""
    if len(pattern) > _MAX_CHARACTERS or pattern.count("|") > _MAX_ALTERNATIVES or _QUANTIFIER.search(pattern):
        raise InvalidRequest(
            f"the stop token re:{pattern[:60]!r} is not allowed: a pattern may have at most {_MAX_CHARACTERS} characters and "
            f"{_MAX_ALTERNATIVES} alternatives, and no repetition (* + ? {{}})"
        )
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidRequest(f"the stop token re:{pattern!r} is not a regular expression: {error}") from error
