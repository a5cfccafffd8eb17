"""The boxes of one attack: open them, stage and start the programs, and close every box at the end."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from sandbox_runtime.doctor.corpus import Attack, Program
from sandbox_runtime.doctor.verdict import Evidence
from sandbox_runtime.isolation.kernel import syscalls
from sandbox_runtime.isolation.port import Backend, Box, RunningCommand
from sandbox_runtime.model import Command, File, Outcome, Policy
from sandbox_runtime.model.limits import KIB, MIB
from sandbox_runtime.workspace import Quotas, stage

QUOTAS = Quotas(max_files=64, max_file_bytes=256 * KIB, max_total_bytes=MIB)
READY = "READY"
READY_TIMEOUT_S = 5.0
PROBE = Path(__file__).parent / "probe.py"


class AttackRun:
    def __init__(self, backend: Backend, policy: Policy, attack: Attack, python: str) -> None:
        self.attack = attack
        self.evidence = Evidence()
        self.facts: dict[str, object] = {}
        self._backend = backend
        self._policy = _box_policy(policy, attack)
        self._python = python
        self._boxes = contextlib.AsyncExitStack()

    async def __aenter__(self) -> AttackRun:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._boxes.aclose()

    async def open_box(self) -> Box:
        box = await self._backend.open(self._policy)
        self._boxes.push_async_callback(box.close)
        return box

    async def run_program(self, box: Box, role: str) -> Outcome:
        """Run a program of the attack to its end."""
        outcome = await box.run(self._prepare(box, self.attack.programs[role]))
        self.evidence.outcomes.append(outcome)
        return outcome

    async def start_program(self, box: Box, role: str) -> BackgroundProgram:
        """Start a program of the attack and wait until it is ready."""
        background = BackgroundProgram(self.evidence)
        await background.start(box, self._prepare(box, self.attack.programs[role]))
        return background

    def pass_to_second(self, ready_text: str) -> None:
        """Pass the text after READY of the first program to the second one."""
        self.facts["first"] = ready_text

    def _prepare(self, box: Box, program: Program) -> Command:
        files = [File(program.name, program.content), File("probe.py", PROBE.read_bytes()), File("facts.json", self._facts())]
        stage(box, files)
        runner = self._python if program.name.endswith(".py") else "/bin/bash"
        return Command((runner, f"{box.workdir}/{program.name}"), limits=self.attack.limits)

    def _facts(self) -> bytes:
        known: Mapping[str, object] = {
            **self.facts,
            "limits": dataclasses.asdict(self.attack.limits),
            "disk_bytes": self._policy.disk_bytes,
            "disk_files": self._policy.disk_files,
            "calls": dict(syscalls.numbers(syscalls.this_machine())),
        }
        return json.dumps(known).encode()


def _box_policy(policy: Policy, attack: Attack) -> Policy:
    """Return the deployment's policy, adapted to the attack: one that uses a box twice needs a reusable box."""
    single_use = policy.single_use and attack.scenario != "again"
    return dataclasses.replace(policy, disk_bytes=attack.disk_bytes, disk_files=attack.disk_files, single_use=single_use)


class BackgroundProgram:
    """A program that printed READY and waits for the end of its standard input."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._text = b""
        self._ready = asyncio.Event()
        self._running: RunningCommand | None = None

    async def start(self, box: Box, command: Command) -> None:
        self._running = await box.start(command, sink=self._on_output, interactive=True)
        ended = asyncio.ensure_future(self._running.wait())
        spoken = asyncio.ensure_future(self._ready.wait())
        try:
            await asyncio.wait((ended, spoken), timeout=READY_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            spoken.cancel()
            ended.cancel()
        if not self._ready.is_set():
            self._evidence.doubts.append("the first program never became ready")

    def _on_output(self, stream: str, piece: bytes) -> None:
        if stream == "stdout":
            self._text += piece
            if parse_ready_line(self._text.decode(errors="replace")) is not None:
                self._ready.set()

    @property
    def ready_text(self) -> str:
        return parse_ready_line(self._text.decode(errors="replace")) or ""

    async def end(self) -> None:
        if self._running is None:
            return
        with contextlib.suppress(Exception):
            self._running.end_input()
        self._evidence.outcomes.append(await self._running.wait())


def parse_ready_line(text: str) -> str | None:
    """Return the text after READY, or None until the line is complete."""
    for line in text.splitlines(keepends=True):
        if line.startswith(READY) and line.endswith("\n"):
            return line.removeprefix(READY).strip()
    return None
