"""Extract code between fences of backticks.

A block begins after three backticks that are followed on their line by a word (the language) or nothing, and ends before the next
line that begins with as many backticks. One pass over the lines, so the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox_runtime.judge.extraction.languages import fence_language
from sandbox_runtime.model.judge import Block

FENCED, INCOMPLETE = 30, 20

_FENCE_AT_START = re.compile(r"[ \t]*(`{3,})[ \t]*([^\s`]*)[^`]*$")
_FENCE_AT_END = re.compile(r"(?<!`)(`{3,})[ \t]*([^\s`]*)[ \t]*$")


@dataclass(frozen=True, slots=True)
class _FencedText:
    word: str
    code: str
    closed: bool


def fenced_blocks(text: str) -> list[Block]:
    return [Block(FENCED, fence_language(part.word), part.code) for part in _fenced_texts(text) if part.closed]


def incomplete_blocks(text: str) -> list[Block]:
    """Return the last block if its closing fence is missing, as in a truncated answer."""
    return [Block(INCOMPLETE, fence_language(part.word), part.code) for part in _fenced_texts(text) if not part.closed]


def tagged_blocks(text: str) -> list[tuple[str, Block]]:
    """Return the closed blocks, each with the word after its fence as written."""
    return [(part.word, Block(FENCED, fence_language(part.word), part.code)) for part in _fenced_texts(text) if part.closed]


def _fenced_texts(text: str) -> Iterator[_FencedText]:
    ticks, word = 0, ""
    body: list[str] = []
    for line in text.split("\n"):
        if not ticks:
            ticks, word = _opening(line)
            body = []
        elif _ticks(line) < ticks:
            body.append(line)
        elif body:
            yield _FencedText(word, "\n".join(body), closed=True)
            ticks = 0
        else:
            ticks, word = _reopening(line, ticks)
    if ticks and any(line.strip() for line in body):
        yield _FencedText(word, _without_last_fence("\n".join(body)), closed=False)


def _opening(line: str) -> tuple[int, str]:
    """Return the number of backticks that open a block on this line (0: none) and the word after them."""
    if "```" not in line:
        return 0, ""
    match = _FENCE_AT_START.match(line) or _FENCE_AT_END.search(line)
    return (len(match[1]), match[2]) if match else (0, "")


def _reopening(line: str, ticks: int) -> tuple[int, str]:
    """Handle a fence directly below a fence: with a word it is the real opening of a doubled one, else the block is empty."""
    count, word = _opening(line)
    return (count, word) if word and count == ticks else (0, "")


def _ticks(line: str) -> int:
    line = line.lstrip(" \t")
    return len(line) - len(line.lstrip("`"))


def _without_last_fence(code: str) -> str:
    """Remove backticks after the last statement on its line: meant as the end, though they are not a fence."""
    return re.sub(r"`{3,}\s*\Z", "", code) if code.rstrip().endswith("```") else code
