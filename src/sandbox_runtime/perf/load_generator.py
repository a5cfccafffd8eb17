"""The load generator: a process of its own that reads orders from its standard input and writes one line for each.

An order: {"url", "concurrency", "seconds" or "requests", "warmup_s", "programs": [{"request", "expectation"}, …]}. Connections
are kept from one order to the next unless it says "hang_up". Every answer is checked; a wrong one is counted with what was
wrong, and its time is not.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.perf.http_client import Answer, Connection, NoAnswer, Target, connect

Json = dict[str, Any]
ERROR, REFUSED, HUNG, BLAME = "error", "refused", "hung", "blame"
"""Kinds of faults: no answer of the protocol, its answer to too many, no answer at all, an answer that is wrong."""
_OVERLOADED = 504
_TOLD_FAULTS = 5
_TOLD_CHARACTERS = 200


@dataclass(slots=True)
class _Span:
    """When to begin counting, when to stop, and how many requests there are at the most. A span of time goes on until one answer
    was counted, however slow the machine: there is no figure without."""

    counts_from: float
    until: float
    left: int | None
    counted: int = 0

    def more(self) -> bool:
        if self.left is None:
            return time.perf_counter() < self.until or not self.counted
        self.left -= 1
        return self.left >= 0

    def count(self, now: float) -> bool:
        """Whether an answer that came now counts."""
        if now < self.counts_from or (now > self.until and self.counted):
            return False
        self.until = max(self.until, now)
        self.counted += 1
        return True


@dataclass(slots=True)
class _Tally:
    samples_s: list[float] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, text: str) -> None:
        self.kinds[kind] += 1
        self.faults[text] += 1

    def to_json(self, elapsed_s: float) -> Json:
        faults = {text: count for text, count in self.faults.most_common(_TOLD_FAULTS)}
        wrong = sum(self.faults.values())
        return {"samples_s": self.samples_s, "elapsed_s": elapsed_s, "wrong": wrong, "faults": faults, "kinds": dict(self.kinds)}


class Generator:
    def __init__(self) -> None:
        self._idle: dict[Target, list[Connection]] = {}

    async def obey(self, order: Json) -> Json:
        target = Target.of(order["url"])
        tasks = [(target.post(json.dumps(one["request"]).encode()), one["expectation"]) for one in order["programs"]]
        begun = time.perf_counter()
        warmup_s, seconds, requests = order.get("warmup_s", 0.0), order.get("seconds"), order.get("requests")
        until = begun + warmup_s + seconds if seconds is not None else float("inf")
        span, tally = _Span(begun + warmup_s, until, requests), _Tally()
        endless = itertools.cycle(tasks)
        await asyncio.gather(*(self._work(target, endless, span, tally) for _ in range(order["concurrency"])))
        if order.get("hang_up"):
            self._hang_up(target)
        return tally.to_json((span.until if seconds is not None else time.perf_counter()) - span.counts_from)

    async def _work(self, target: Target, tasks: Iterator[tuple[bytes, Json]], span: _Span, tally: _Tally) -> None:
        connection: Connection | None = None
        while span.more():
            request, expectation = next(tasks)
            try:
                connection = connection if connection and connection.usable else await self._connection(target)
                answer = await connection.ask(request)
            except SandboxError as error:
                tally.add(HUNG if isinstance(error, NoAnswer) else ERROR, str(error))
                return
            fault = fault_of(answer, expectation)
            if fault:
                span.counted += 1
                tally.add(_kind(answer.status), fault)
            elif span.count(time.perf_counter()):
                tally.samples_s.append(answer.took_s)
        if connection is not None and connection.usable:
            self._idle[target].append(connection)

    def _hang_up(self, target: Target) -> None:
        for connection in self._idle.pop(target, []):
            connection.close()

    async def _connection(self, target: Target) -> Connection:
        idle = self._idle.setdefault(target, [])
        while idle:
            connection = idle.pop()
            if connection.usable:
                return connection
        return await connect(target)


def fault_of(answer: Answer, expectation: Json) -> str:
    """What is wrong with an answer; empty when nothing is. An ending is told only by servers that have the word."""
    if answer.status != 200:
        return f"HTTP {answer.status}: {_shortened(answer.body.decode(errors='replace'))}"
    try:
        body = json.loads(answer.body)
        run = body["run_result"] or {}
        found = {"status": body["status"], "stdout": run.get("stdout"), "ending": run.get("details", {}).get("ending")}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return f"an answer of another shape: {type(error).__name__} {error}"
    for name in ("status", "stdout", "ending"):
        wanted = expectation[name]
        if wanted is not None and found[name] != wanted and not (name == "ending" and found[name] is None):
            return _shortened(
                f"{name} is {found[name]!r} instead of {wanted!r}; {body.get('message', '')}{run.get('stderr', '')}"
            )
    return ""


def _kind(status: int) -> str:
    return {200: BLAME, _OVERLOADED: REFUSED}.get(status, ERROR)


def _shortened(text: str) -> str:
    return text if len(text) <= _TOLD_CHARACTERS else f"{text[:_TOLD_CHARACTERS]}…"


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    generator = Generator()
    orders = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        sys.stdout.write(json.dumps(await generator.obey(json.loads(line))) + "\n")
        sys.stdout.flush()


def main() -> None:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve())


if __name__ == "__main__":
    main()
