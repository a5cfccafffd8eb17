"""Far more clients than places, for a while: is everyone answered, and is every answer the one that the program earned?

An error is a connection that broke or a status other than 200. 504 is how the protocol refuses, but with the queue as it is by
default nobody should see it: it is told apart and counted as an error as well. Hung is who got no answer at all. Blame is wrong
where an answer says something else than what became of the program: a time limit for one that had time, a failure of the
platform told as the program's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sandbox_runtime.perf.jobs import SOAK
from sandbox_runtime.perf.load_client import Loader
from sandbox_runtime.perf.load_generator import BLAME, ERROR, HUNG, REFUSED
from sandbox_runtime.perf.server_process import Server
from sandbox_runtime.perf.statistics import Timing


@dataclass(frozen=True, slots=True)
class OverloadResult:
    clients: int
    seconds: float
    answers: int
    errors: int
    refused: int
    hung: int
    wrong_blame: int
    p50_s: float | None
    p99_s: float | None
    faults: dict[str, int]

    @property
    def all_right(self) -> bool:
        return not (self.errors or self.hung or self.wrong_blame)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def crowd(server: Server, loader: Loader, clients: int, seconds: float) -> OverloadResult:
    result = await loader.overload(server.url, SOAK, clients, seconds)
    kinds, samples = result.kinds, tuple(result.samples_s)
    timing = Timing("crowd", "a crowd", samples) if samples else None
    return OverloadResult(
        clients=clients,
        seconds=seconds,
        answers=len(samples),
        errors=kinds.get(ERROR, 0) + kinds.get(REFUSED, 0),
        refused=kinds.get(REFUSED, 0),
        hung=kinds.get(HUNG, 0),
        wrong_blame=kinds.get(BLAME, 0),
        p50_s=timing.at(0.50) if timing else None,
        p99_s=timing.at(0.99) if timing else None,
        faults=result.faults,
    )
