"""Turn the evidence of an attack into a verdict. Pure."""

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
    """The result of an attack. reason: what stopped it, what escaped, why it is inconclusive, or why it does not apply."""

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
        """Whether the attack escaped or was inconclusive: both mean that the deployment is not proven safe."""
        return self.state in (State.escaped, State.inconclusive)


@dataclass
class Evidence:
    """What was observed during an attack.

    breaches: observations from outside that must not be possible.
    doubts: why the attack could not be tried as intended.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Observations from outside that are as they should be."""


def judge(attack: Attack, evidence: Evidence, filtered: bool) -> tuple[State, str]:
    """Return state and reason. filtered: whether the boxes had the seccomp filter, so that refused calls were counted."""
    lines = [line for outcome in evidence.outcomes for line in outcome.stdout.text.splitlines()]
    escapes = [*evidence.breaches, *_marked_lines(lines, "ESCAPED:")]
    if escapes:
        return State.escaped, _short("; ".join(escapes))
    doubts = [*evidence.doubts, *(doubt for outcome in evidence.outcomes if (doubt := _doubt(attack, outcome)))]
    if filtered:
        doubts += _uncounted(attack, evidence.outcomes)
    reasons = [*_marked_lines(lines, "HELD:"), *evidence.remarks, *_stopping_endings(attack, evidence.outcomes)]
    if doubts or not reasons:
        return State.inconclusive, _short("; ".join(doubts) or f"no program printed HELD or ESCAPED: {_last_output(evidence)}")
    return State.held, _short("; ".join(reasons))


def _marked_lines(lines: list[str], mark: str) -> list[str]:
    return [line.removeprefix(mark).strip() for line in lines if line.startswith(mark)]


def _doubt(attack: Attack, outcome: Outcome) -> str:
    if outcome.ending in attack.endings and not (outcome.ending is Ending.exited and outcome.exit_code):
        return ""
    last = outcome.stderr.text.strip().splitlines()[-1:] or [outcome.message]
    return f"a program ended with {outcome.ending} {outcome.signal or outcome.exit_code or ''}: {last[0]}"


def _stopping_endings(attack: Attack, outcomes: list[Outcome]) -> list[str]:
    """Return endings that prove by themselves that the program was stopped; one that exited must print HELD."""
    stopping = attack.endings - {Ending.exited}
    return [f"ended with {outcome.ending}" for outcome in outcomes if outcome.ending in stopping]


def _uncounted(attack: Attack, outcomes: list[Outcome]) -> list[str]:
    counted = {name for outcome in outcomes for name in outcome.usage.denied_calls}
    return [f"{name} was not counted among the refused calls" for name in attack.denied if name not in counted]


def _last_output(evidence: Evidence) -> str:
    texts = [outcome.stderr.text.strip() or outcome.stdout.text.strip() for outcome in evidence.outcomes]
    return " / ".join(text.splitlines()[-1] if text else "no output" for text in texts)


def _short(text: str) -> str:
    return text if len(text) <= REASON_CHARACTERS else text[: REASON_CHARACTERS - 1] + "…"
