"""What a checker says of an output."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.model import Reason

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Found:
    reason: Reason
    message: str = ""

    @property
    def passed(self) -> bool:
        return self.reason is Reason.accepted


RIGHT = Found(Reason.accepted)


def wrong(message: str) -> Found:
    return Found(Reason.wrong_answer, message)


def layout(message: str) -> Found:
    return Found(Reason.presentation, message)


def clipped(text: str) -> str:
    """For messages: quoted, and short."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}…"
