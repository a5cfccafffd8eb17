"""What came of an attack: from what was seen to a state, pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sandbox_runtime.doctor.corpus import Attack
from sandbox_runtime.doctor.families import Family
from sandbox_runtime.doctor.server_guards import Guard
from sandbox_runtime.model import Ending, Layer, Outcome

REASON_CHARACTERS = 300


class State(StrEnum):
    held = "held"
    escaped = "escaped"
    inconclusive = "inconclusive"
    not_applicable = "not_applicable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """reason: what held it, what got out, why nothing can be said, or why it does not apply here."""

    attack: str
    title: str
    layers: tuple[Layer, ...]
    shows: tuple[Layer, ...]
    state: State
    reason: str = ""
    wall_s: float = 0.0
    family: Family = Family.host
    guards: tuple[Guard, ...] = ()

    @property
    def bad(self) -> bool:
        """An attack of which nothing can be said is as bad as one that got through: the corpus proves nothing then."""
        return self.state in (State.escaped, State.inconclusive)


@dataclass
class Evidence:
    """breaches: what was seen from outside that must not be. doubts: why an attack could not be tried as it was meant."""

    outcomes: list[Outcome] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What was seen from outside that is as it should be."""


def judge(attack: Attack, evidence: Evidence, filtered: bool) -> tuple[State, str]:
    """filtered: whether the boxes had the system call filter, so that refusals are counted."""
    words = [line for outcome in evidence.outcomes for line in outcome.stdout.text.splitlines()]
    escapes = [*evidence.breaches, *_marked_lines(words, "ESCAPED:")]
    if escapes:
        return State.escaped, _short("; ".join(escapes))
    doubts = [*evidence.doubts, *(doubt for outcome in evidence.outcomes if (doubt := _doubt(attack, outcome)))]
    if filtered:
        doubts += _uncounted(attack, evidence.outcomes)
    reasons = [*_marked_lines(words, "HELD:"), *evidence.remarks, *_stopping_endings(attack, evidence.outcomes)]
    if doubts or not reasons:
        return State.inconclusive, _short("; ".join(doubts) or f"nobody said HELD or ESCAPED: {_last_output(evidence)}")
    return State.held, _short("; ".join(reasons))


def _marked_lines(words: list[str], mark: str) -> list[str]:
    return [line.removeprefix(mark).strip() for line in words if line.startswith(mark)]


def _doubt(attack: Attack, outcome: Outcome) -> str:
    if outcome.ending in attack.endings and not (outcome.ending is Ending.exited and outcome.exit_code):
        return ""
    last = outcome.stderr.text.strip().splitlines()[-1:] or [outcome.message]
    return f"a program ended with {outcome.ending} {outcome.signal or outcome.exit_code or ''}: {last[0]}"


def _stopping_endings(attack: Attack, outcomes: list[Outcome]) -> list[str]:
    """Endings that are the proof themselves; a program that exited has to speak."""
    stopping = attack.endings - {Ending.exited}
    return [f"ended with {outcome.ending}" for outcome in outcomes if outcome.ending in stopping]


def _uncounted(attack: Attack, outcomes: list[Outcome]) -> list[str]:
    counted = {name for outcome in outcomes for name in outcome.usage.denied_calls}
    return [f"{name} was not counted among the refused calls" for name in attack.denied if name not in counted]


def _last_output(evidence: Evidence) -> str:
    texts = [outcome.stderr.text.strip() or outcome.stdout.text.strip() for outcome in evidence.outcomes]
    return " / ".join(text.splitlines()[-1] if text else "silence" for text in texts)


def _short(text: str) -> str:
    return text if len(text) <= REASON_CHARACTERS else text[: REASON_CHARACTERS - 1] + "…"
