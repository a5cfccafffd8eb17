"""Taking turns. Every contender runs once (or a few times) in each round, in an order that moves on by one from round to
round; the first rounds are warm-up and are dropped. So noise, drift and neighbours hit all alike.

A contender that fails is taken out of the rounds and its reason kept; the others go on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from sandbox_runtime.perf.statistics import Timing

Once = Callable[[], Awaitable[float]]
"""Does it once and returns the seconds it took."""
Settle = Callable[[], Awaitable[None]]
"""Waits until what the last run left to do in the background is done; not measured."""
Burst = Callable[[float], Awaitable[tuple[list[float], float]]]
"""Does it over and over for so many seconds: the duration of each that ended, and the seconds they share."""
Step = Callable[[], None]


async def nothing_to_wait_for() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    title: str
    once: Once
    settle: Settle = nothing_to_wait_for
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Load:
    name: str
    title: str
    burst: Burst
    settle: Settle = nothing_to_wait_for


class _Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_Named)


@dataclass(slots=True)
class Timings:
    """By the names of the contenders; one is in timings or in failed."""

    timings: dict[str, Timing] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


class _Field(Generic[T]):
    """The contenders that are still in."""

    def __init__(self, contenders: Sequence[T]) -> None:
        self.left = list(contenders)
        self.failed: dict[str, str] = {}

    def in_turn(self, number: int) -> Iterator[T]:
        first = number % len(self.left) if self.left else 0
        yield from [*self.left[first:], *self.left[:first]]

    def out(self, contender: T, error: Exception) -> None:
        self.left.remove(contender)
        self.failed[contender.name] = str(error) or type(error).__name__


async def interleave(contenders: Sequence[Contender], rounds: int, warmup: int, step: Step) -> Timings:
    field_of = _Field(contenders)
    samples: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for number in range(warmup + rounds):
        for contender in field_of.in_turn(number):
            try:
                taken = [await _settled(contender) for _ in range(contender.repeat)]
            except Exception as error:
                field_of.out(contender, error)
                continue
            samples[contender.name] += taken if number >= warmup else []
        step()
    timings = {one.name: Timing(one.name, one.title, tuple(samples[one.name])) for one in field_of.left}
    return Timings(timings, field_of.failed)


async def _settled(contender: Contender) -> float:
    await contender.settle()
    return await contender.once()


async def interleave_loads(loads: Sequence[Load], windows: int, seconds: float, step: Step) -> Timings:
    """Each load has so many windows of so many seconds. What happens to be under way at the end of a window does not count."""
    field_of = _Field(loads)
    samples: dict[str, list[float]] = {load.name: [] for load in loads}
    elapsed_s = dict.fromkeys(samples, 0.0)
    for number in range(windows):
        for load in field_of.in_turn(number):
            try:
                await load.settle()
                taken, spent_s = await load.burst(seconds)
            except Exception as error:
                field_of.out(load, error)
                continue
            finally:
                step()
            samples[load.name] += taken
            elapsed_s[load.name] += spent_s
    standings = Timings(failed=field_of.failed)
    for load in field_of.left:
        _count(standings, load, samples[load.name], elapsed_s[load.name])
    return standings


def _count(standings: Timings, load: Load, samples: list[float], elapsed_s: float) -> None:
    if samples:
        standings.timings[load.name] = Timing(load.name, load.title, tuple(samples), len(samples) / elapsed_s)
    else:
        standings.failed[load.name] = f"nothing ended within {elapsed_s:g} s"
