"""Cuts: where a completion ends, whatever comes after."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sandbox_runtime.errors import InvalidRequest

PATTERN = "re:"
_MAX_CHARACTERS, _MAX_ALTERNATIVES = 100, 4
_QUANTIFIER = re.compile(r"(?<!\\)(?:\\\\)*(?:[*+{]|(?<!\()\?)")


def trim_stop_tokens(text: str, tokens: Iterable[str]) -> str:
    """The text up to the first of the tokens. One that begins with `re:` is a regular expression."""
    places = [place for token in tokens if (place := _position(text, token)) >= 0]
    return text[: min(places)] if places else text


def text_before(text: str, mark: str) -> str:
    return text.partition(mark)[0]


def before_first_unindented_line(text: str) -> str:
    """Up to the first line, below the one it begins on, that is neither empty nor indented: where a function's body ends."""
    found = re.search(r"\n(?=\S)", text)
    return text[: found.start()] if found else text


def _position(text: str, token: str) -> int:
    if not token.startswith(PATTERN):
        return text.find(token) if token else -1
    found = _compile_pattern(token.removeprefix(PATTERN)).search(text)
    return found.start() if found else -1


def _compile_pattern(written: str) -> re.Pattern[str]:
    """Rows come from anyone: a pattern whose time could grow faster than the text is refused. Without repetition, and with few
    alternatives, none can."""
    if len(written) > _MAX_CHARACTERS or written.count("|") > _MAX_ALTERNATIVES or _QUANTIFIER.search(written):
        raise InvalidRequest(
            f"the stop token re:{written[:60]!r} is refused: a pattern has at most {_MAX_CHARACTERS} characters and "
            f"{_MAX_ALTERNATIVES} alternatives and no repetition (* + ? {{}})"
        )
    try:
        return re.compile(written)
    except re.error as error:
        raise InvalidRequest(f"the stop token re:{written!r} is no regular expression: {error}") from error
