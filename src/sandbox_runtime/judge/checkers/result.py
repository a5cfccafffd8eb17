"""The result of a checker."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.model import Reason

_MAX_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class CheckResult:
    reason: Reason
    message: str = ""

    @property
    def passed(self) -> bool:
        return self.reason is Reason.accepted


ACCEPTED = CheckResult(Reason.accepted)


def wrong_answer(message: str) -> CheckResult:
    return CheckResult(Reason.wrong_answer, message)


def wrong_presentation(message: str) -> CheckResult:
    return CheckResult(Reason.presentation, message)


def clip(text: str) -> str:
    """Quote and shorten a text for a message."""
    return repr(text) if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[:_MAX_SHOWN_CHARACTERS]!r}…"
