"""The tokens of one trial, and the harness messages within the program's output."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from sandbox_runtime.model import Output

_DELIMITER = b"\x1e"
_MESSAGE = re.compile(rb"\x1e[0-9a-f]{32}[^\x1e]{0,1600}\x1e")
_TOKEN_DIGITS = 32
_ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Tokens:
    report: str
    """Marks every harness message except the final one of a passed run."""
    end: str
    """Marks the final message of a passed run."""

    @classmethod
    def of(cls, nonce: str) -> Tokens:
        return cls(_digest(nonce, "report"), _digest(nonce, "end"))


@dataclass(frozen=True, slots=True)
class HarnessReport:
    words: tuple[str, ...]
    """Tamper words reported by the harness."""
    result: str
    """passed, failed, wrong_answer, or empty if the harness did not reach the end"""
    message: str
    """Details of a run that did not pass."""
    forged: bool
    """Whether there are messages that are not from the harness."""
    stdout: Output
    """Output without the messages."""


def read_report(stdout: Output, tokens: Tokens) -> HarnessReport:
    """Separate the harness messages from the program's output."""
    whole = Output(stdout.head + stdout.tail, b"", 0) if not stdout.dropped_bytes else stdout
    words: list[str] = []
    ends: list[tuple[str, str]] = []
    forged = False
    for message in (*_MESSAGE.findall(whole.head), *_MESSAGE.findall(whole.tail)):
        token, _, text = message.strip(_DELIMITER).decode(errors="replace").partition(" ")
        first, _, rest = text.partition(" ")
        if token == tokens.report and first == _ENDED:
            ends.append((rest.partition(" ")[0], rest.partition(" ")[2]))
        elif token == tokens.report:
            words.append(text)
        elif token == tokens.end:
            ends.append((first, ""))
            words.extend(word for word in rest.split(",") if word)
        else:
            forged = True
    shown = Output(_MESSAGE.sub(b"", whole.head), _MESSAGE.sub(b"", whole.tail), whole.dropped_bytes)
    how, message = ends[0] if len(ends) == 1 else ("", "")
    return HarnessReport(tuple(dict.fromkeys(words)), how, message, forged or len(ends) > 1, shown)


def _digest(nonce: str, purpose: str) -> str:
    return sha256(f"{nonce} {purpose}".encode()).hexdigest()[:_TOKEN_DIGITS]
