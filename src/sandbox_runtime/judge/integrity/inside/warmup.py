"""All of the two processes in one, so that the interpreter of a spawner knows the way: no fork, no verdict."""

from __future__ import annotations

import json
import linecache
from typing import Any

from .proxies import Remote  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us
from .solution_process import SolutionProcess  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .tests_process import TESTS, names_used  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .wire import Wire  # type: ignore[import-not-found, import-untyped, unused-ignore]

_FILE = "practice.py"
_SOLUTION = "import math\nfrom typing import List\n\ndef same(items: List[int]) -> List[int]:\n    return sorted(items)\n"
_TESTS = "assert same([2, 1]) == [1, 2]\nassert same(('a',)) == ['a']\nassert same([1.5]) == [1.5]\n"


class _RecordingWire(Wire):  # type: ignore[misc, unused-ignore]
    """A wire that keeps what is sent."""

    __slots__ = ("sent",)

    def __init__(self) -> None:
        super().__init__(-1)
        self.sent: list[tuple[dict[str, Any], bytes]] = []

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        self.sent.append((json.loads(json.dumps(header)), payload))


class _LoopbackWire(_RecordingWire):
    """One that has the other side in the same process."""

    __slots__ = ("_answers", "_solution")

    def __init__(self, solution: SolutionProcess, answers: _RecordingWire) -> None:
        super().__init__()
        self._solution = solution
        self._answers = answers

    def receive(self) -> tuple[dict[str, Any], bytes]:
        self._solution.answer(*self.sent.pop())
        return self._answers.sent.pop()


def warm_up() -> None:
    answers = _RecordingWire()
    solution = SolutionProcess(answers, {"__file__": _FILE, "__name__": "__main__"})
    names: dict[str, Any] = {"__name__": "__main__"}
    code = compile(_TESTS, TESTS, "exec")
    remote = Remote(_LoopbackWire(solution, answers), names_used(code, ""), names)
    names.update(remote.load(_SOLUTION, "", frozenset(), {}))
    exec(code, names)
    linecache.cache.pop(_FILE, None)
