"""What every section has at hand."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import Protocol

from sandbox_runtime.isolation.guest_interpreter import GuestInterpreter
from sandbox_runtime.perf.bench_plan import BenchPlan
from sandbox_runtime.perf.jobs import OTHER_LANGUAGES, PLAIN
from sandbox_runtime.perf.load_client import Loader
from sandbox_runtime.perf.report import Report
from sandbox_runtime.perf.server_process import Server
from sandbox_runtime.settings import Settings

_CHECKED_WITHIN_S = 120.0
_ASK_WITHIN_S = 30.0


class Progress(Protocol):
    """Told what is being measured and how far it has come."""

    def begin(self, title: str, steps: int) -> None: ...
    def step(self) -> None: ...


@dataclass(frozen=True, slots=True)
class BenchEnvironment:
    settings: Settings
    effort: BenchPlan
    guest: GuestInterpreter
    loader: Loader
    report: Report
    progress: Progress
    cores: int
    peer: str | None = None

    async def wait_until_checked(self, server: Server) -> None:
        """A new server checks a language before its first use; a run of each that is measured returns when that is over."""
        programs = (PLAIN, *OTHER_LANGUAGES)
        await self.loader.run_all(server.url, programs, 1, len(programs), _CHECKED_WITHIN_S)
        await server.settle()


def has_modules(python: str, *names: str) -> bool:
    """Whether the guest's interpreter can import them; asked without importing any."""
    question = "import sys, importlib.util as found; sys.exit(not all(map(found.find_spec, sys.argv[1:])))"
    answer = subprocess.run([python, "-c", question, *names], capture_output=True, timeout=_ASK_WITHIN_S, check=False, cwd="/")
    return answer.returncode == 0
