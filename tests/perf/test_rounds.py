from __future__ import annotations

from collections.abc import Awaitable, Callable

from sandbox_runtime.perf.rounds import Contender, Load, interleave, interleave_loads


class Track:
    """Keeps the order in which contenders had their turns."""

    def __init__(self) -> None:
        self.turns: list[str] = []
        self.steps = 0

    def step(self) -> None:
        self.steps += 1

    def contender(self, name: str, *, repeat: int = 1, breaks_at: int | None = None) -> Contender:
        async def once() -> float:
            self.turns.append(name)
            if self.turns.count(name) == breaks_at:
                raise RuntimeError(f"{name} broke")
            return float(self.turns.count(name))

        return Contender(name, name.upper(), once, repeat=repeat)

    def load(self, name: str, samples: list[float]) -> Load:
        async def burst(seconds: float) -> tuple[list[float], float]:
            self.turns.append(name)
            return samples, seconds

        return Load(name, name.upper(), burst)


async def test_contenders_take_turns_and_the_first_of_a_round_moves_on() -> None:
    track = Track()
    await interleave([track.contender(name) for name in "abc"], 3, 0, track.step)
    assert "".join(track.turns) == "abc" + "bca" + "cab"


async def test_a_contender_with_several_turns_has_them_in_one_go() -> None:
    track = Track()
    standings = await interleave([track.contender("a", repeat=3), track.contender("b")], 2, 0, track.step)
    assert "".join(track.turns) == "aaab" + "baaa"
    assert (len(standings.timings["a"].samples_s), len(standings.timings["b"].samples_s)) == (6, 2)


async def test_warm_up_rounds_are_run_and_dropped() -> None:
    track = Track()
    standings = await interleave([track.contender("a")], rounds=2, warmup=3, step=track.step)
    assert standings.timings["a"].samples_s == (4.0, 5.0)
    assert track.steps == 5


async def test_one_that_breaks_is_out_with_its_reason_and_the_others_go_on() -> None:
    track = Track()
    standings = await interleave([track.contender("a"), track.contender("b", breaks_at=2)], 4, 0, track.step)
    assert standings.failed == {"b": "b broke"}
    assert list(standings.timings) == ["a"]
    assert (track.turns.count("a"), track.turns.count("b")) == (4, 2)


async def test_when_all_are_out_the_rounds_still_end() -> None:
    track = Track()
    standings = await interleave([track.contender("a", breaks_at=1)], 3, 1, track.step)
    assert (standings.timings, list(standings.failed)) == ({}, ["a"])


async def test_settling_comes_before_every_turn_and_is_not_counted() -> None:
    track = Track()

    async def settle() -> None:
        track.turns.append("settle")

    contender = Contender("a", "A", track.contender("a").once, settle, repeat=2)
    standings = await interleave([contender], 1, 0, track.step)
    assert track.turns == ["settle", "a", "settle", "a"]
    assert standings.timings["a"].samples_s == (1.0, 2.0)


async def test_the_rate_of_a_load_is_what_it_got_done_in_all_its_windows() -> None:
    track = Track()
    loads = [track.load("a", [0.1, 0.1, 0.1]), track.load("b", [0.2])]
    standings = await interleave_loads(loads, windows=2, seconds=0.5, step=track.step)
    assert "".join(track.turns) == "ab" + "ba"
    assert (standings.timings["a"].per_s, standings.timings["b"].per_s) == (6.0, 2.0)
    assert len(standings.timings["a"].samples_s) == 6
    assert track.steps == 4


async def test_a_load_under_which_nothing_ends_has_failed() -> None:
    track = Track()
    standings = await interleave_loads([track.load("a", [])], 2, 0.5, track.step)
    assert standings.failed == {"a": "nothing ended within 1 s"}


async def test_a_load_that_breaks_is_out_and_the_others_go_on() -> None:
    track = Track()
    standings = await interleave_loads([Load("bad", "BAD", _breaking()), track.load("a", [0.1])], 3, 0.1, track.step)
    assert standings.failed == {"bad": "out of order"}
    assert track.turns == ["a", "a", "a"]


def _breaking() -> Callable[[float], Awaitable[tuple[list[float], float]]]:
    async def burst(seconds: float) -> tuple[list[float], float]:
        raise RuntimeError("out of order")

    return burst
