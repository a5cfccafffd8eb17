"""Tokens of one trial, and the messages of the harness among what the program printed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from sandbox_runtime.model import Output

_EDGE = b"\x1e"
_LOOKS_LIKE_OURS = re.compile(rb"\x1e[0-9a-f]{32}[^\x1e]{0,400}\x1e")
_TOKEN_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Tokens:
    """report goes with every word of the harness, end with its last, and nobody learns the last before."""

    report: str
    end: str

    @classmethod
    def of(cls, nonce: str) -> Tokens:
        return cls(_digest(nonce, "report"), _digest(nonce, "end"))


@dataclass(frozen=True, slots=True)
class Told:
    """words: what the harness saw; how: "passed", "failed", or empty where it never came to the end; forged: messages that are
    none of ours."""

    words: tuple[str, ...]
    how: str
    forged: bool
    stdout: Output


def read(stdout: Output, tokens: Tokens) -> Told:
    """Takes the messages out of what was printed."""
    whole = Output(stdout.head + stdout.tail, b"", 0) if not stdout.dropped_bytes else stdout
    words: list[str] = []
    ends: list[str] = []
    forged = False
    for message in (*_LOOKS_LIKE_OURS.findall(whole.head), *_LOOKS_LIKE_OURS.findall(whole.tail)):
        token, _, text = message.strip(_EDGE).decode(errors="replace").partition(" ")
        if token == tokens.report:
            words.append(text)
        elif token == tokens.end:
            how, _, seen = text.partition(" ")
            ends.append(how)
            words.extend(word for word in seen.split(",") if word)
        else:
            forged = True
    shown = Output(_LOOKS_LIKE_OURS.sub(b"", whole.head), _LOOKS_LIKE_OURS.sub(b"", whole.tail), whole.dropped_bytes)
    return Told(tuple(dict.fromkeys(words)), ends[0] if len(ends) == 1 else "", forged or len(ends) > 1, shown)


def _digest(nonce: str, purpose: str) -> str:
    return sha256(f"{nonce} {purpose}".encode()).hexdigest()[:_TOKEN_DIGITS]
