"""A live interpreter in a box.

One task reads its connection; execute() waits for the event that ends the cell, or for the end of the process. Printed output
arrives over the process's own streams: the interpreter flushes them before it reports a cell as done, so what has arrived by
then belongs to the cell.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
from collections.abc import Mapping
from types import MappingProxyType

from sandbox_runtime.engine.contexts.connection import Connection
from sandbox_runtime.engine.injected_modules import CONTEXT_START
from sandbox_runtime.engine.notebook.transcript import LARGE_BYTES, ParsedEvent, Transcript, read_event
from sandbox_runtime.errors import Conflict, PlatformFault, Unavailable
from sandbox_runtime.isolation.port import Box, RunningCommand, Sink
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import File
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.notebook import CellError, CellResult
from sandbox_runtime.model.outcome import Ending, Outcome
from sandbox_runtime.workspace.staging import stage

START_WITHIN_S = 60.0
INTERRUPT_GRACE_S = 2.0
"""How long an interrupted cell may take to stop before its interpreter is killed."""
END_WITHIN_S = 30.0
MAX_LIFETIME_S = 86_400.0
_MAX_LIFETIME_OUTPUT_BYTES = 16 * 1024**3
_MESSAGE_OVERHEAD_BYTES = 64 * 1024
_OVERRUN_BYTES = 64 * 1024**2
"""What a context may send beyond the output limit of a cell, while it is being stopped, before its connection is closed."""
_IDLE_MESSAGE_BYTES = 1024**2
"""What it may send while no cell runs: that it is ready, or was forked."""
_FLOOD_BYTES_PER_S = 16 * 1024**2
"""How fast messages are read from a context that has sent too much."""
_PROGRAM = "/run/context.py"
_NO_ENV: Mapping[str, str] = MappingProxyType({})


class Context:
    """A live interpreter. Its owner must close() it; the box is closed by whoever opened it.

    - limits: memory, processes and files of the whole interpreter.
    - keep_bytes: how much is kept of each stream of a cell, and of its displays.
    """

    def __init__(self, box: Box, limits: Limits, keep_bytes: int) -> None:
        self.box = box
        self._limits = limits.replace(wall_s=MAX_LIFETIME_S, cpu_s=None, output_bytes=_MAX_LIFETIME_OUTPUT_BYTES)
        self._cell_output_bytes = limits.output_bytes
        self._keep_bytes = keep_bytes
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._done: asyncio.Future[None] | None = None
        self._transcript: Transcript | None = None
        self._flooded: Transcript | None = None
        self._sent_bytes = 0
        """Received since the latest cell started or ended."""
        self._sink: Sink | None = None
        self._running: RunningCommand | None = None
        self._ended: asyncio.Task[Outcome] | None = None
        self._listening: asyncio.Task[None] | None = None
        self.connection: Connection | None = None
        self.can_be_copied = False
        self._cell_token = ""

    async def start(self, python: str, env: Mapping[str, str] = _NO_ENV) -> None:
        stage(self.box, [File(_PROGRAM, CONTEXT_START.encode())])
        command = Command((python, _PROGRAM), env=env, limits=self._limits)
        self._running = await self.box.start(command, sink=self._on_output, control=True)
        assert self._running.control is not None
        self.connection = Connection(
            self._running.control, self._keep_bytes + _MESSAGE_OVERHEAD_BYTES, self._cell_output_bytes + _OVERRUN_BYTES
        )
        self._ended = asyncio.ensure_future(self._running.wait())
        self._listening = asyncio.create_task(self._listen())
        await self.until_ready()

    async def until_ready(self) -> None:
        """Wait until the interpreter is up. Raises Unavailable if the guest has none, PlatformFault if it does not start in
        time."""
        assert self._ended is not None
        await asyncio.wait((self._ready, self._ended), timeout=START_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done():
            return
        if not self._ended.done():
            raise PlatformFault(f"no interpreter started within {START_WITHIN_S:g} s")
        outcome = self._ended.result()
        last = (outcome.message or outcome.stderr.text).strip().splitlines()
        raise Unavailable(f"the interpreter cannot start: {last[-1][:300] if last else outcome.ending}")

    @property
    def alive(self) -> bool:
        return self._ended is not None and not self._ended.done()

    @property
    def busy(self) -> bool:
        return self._done is not None

    async def execute(self, code: str, *, wall_s: float, sink: Sink | None = None) -> CellResult:
        """Run a cell. `sink` receives what it prints while it runs."""
        done = self._begin(wall_s, sink)
        try:
            assert self.connection is not None and self._transcript is not None
            if self.alive:
                await self.connection.send({"do": "execute", "code": code, "turn": self._cell_token})
                await self._finish(done, wall_s)
            else:
                self._set_ending("not_run")
            assert self._running is not None
            self._running.drain()
            return self._transcript.results(self._cause())[0]
        except asyncio.CancelledError:
            self.interrupt()
            raise
        finally:
            self._done = self._transcript = self._sink = None
            self._sent_bytes = 0

    def interrupt(self) -> None:
        """Interrupt the running cell, if there is one."""
        if self._running is not None and self.busy:
            self._running.send_signal(signal.SIGINT)

    async def close(self) -> Outcome | None:
        """Stop the interpreter and return the outcome of its whole life."""
        if self._running is not None:
            self._running.cancel()
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait((self._listening,), timeout=END_WITHIN_S)
        if self._ended is None:
            return None
        await asyncio.wait((self._ended,), timeout=END_WITHIN_S)
        return self._ended.result() if self._ended.done() else None

    async def prepare_for_copy(self) -> None:
        """Prepare this interpreter, which will only become a copy of another."""
        assert self.connection is not None
        if self.can_be_copied:
            await self.connection.send({"do": "rehearse"})

    def expect_replacement(self) -> None:
        """Expect that this interpreter becomes a copy of another, which reports when it is ready."""
        self._ready = asyncio.get_running_loop().create_future()

    def _begin(self, wall_s: float, sink: Sink | None) -> asyncio.Future[None]:
        if self.busy:
            raise Conflict("the context is already running a cell: wait for it or interrupt it")
        self._transcript = Transcript(1, wall_s, self._keep_bytes)
        self._sent_bytes = 0
        self._sink = sink
        self._cell_token = secrets.token_hex(16)
        self._done = asyncio.get_running_loop().create_future()
        return self._done

    async def _finish(self, done: asyncio.Future[None], wall_s: float) -> None:
        """Wait until the cell has ended: by itself, interrupted, killed, or with its interpreter."""
        assert self._ended is not None and self._running is not None and self._transcript is not None
        if await self._wait_done(done, wall_s):
            return
        if self._ended.done():
            self._set_ending("died")
            return
        self.interrupt()
        if await self._wait_done(done, INTERRUPT_GRACE_S):
            self._transcript.set_ending("timed_out")
            return
        self._running.cancel()
        await asyncio.wait((self._ended,), timeout=END_WITHIN_S)
        self._set_ending("killed")

    async def _wait_done(self, done: asyncio.Future[None], within_s: float) -> bool:
        """Wait by the clock of the box, which stops during a pause."""
        assert self._ended is not None
        with contextlib.suppress(TimeoutError):
            async with self.box.clock.timeout(within_s):
                await asyncio.wait((done, self._ended), return_when=asyncio.FIRST_COMPLETED)
        return done.done()

    def _set_ending(self, how: str) -> None:
        assert self._transcript is not None
        self._transcript.set_ending(how)

    def _cause(self) -> str:
        """Return why the interpreter ended, if it did."""
        if self._ended is None or not self._ended.done():
            return ""
        outcome = self._ended.result()
        if outcome.ending is Ending.exited:
            return f"it exited with status {outcome.exit_code}"
        if outcome.ending is Ending.signaled:
            return f"it was killed by signal {outcome.signal}"
        return outcome.message

    def _on_output(self, name: str, piece: bytes) -> None:
        if self._transcript is None:
            return
        if self._transcript.add_output(name, piece) > self._cell_output_bytes:
            self._stop_flood(self._transcript)
        elif self._sink is not None:
            self._sink(name, piece)

    def _stop_flood(self, transcript: Transcript) -> None:
        """Interrupt a cell that prints too much, once: another interrupt while it reports the first would confuse it."""
        if self._flooded is not transcript:
            self._flooded = transcript
            transcript.add_error(
                CellError("OutputLimitError", f"the cell was interrupted after {self._cell_output_bytes} bytes of output")
            )
            self.interrupt()
            self.box.clock.call_later(INTERRUPT_GRACE_S, lambda: self._end_flood(transcript))

    def _end_flood(self, transcript: Transcript) -> None:
        if self._transcript is transcript and self._running is not None:
            self._running.cancel()

    async def _listen(self) -> None:
        assert self.connection is not None and self._running is not None
        while (message := await self.connection.receive()) is not None:
            size, text = message
            self._sent_bytes += size
            if self._sent_bytes > self._max_sent_bytes + _OVERRUN_BYTES:
                break
            await self._read_message(text, whole=len(text) == size)
        if self.connection.overrun and self._transcript is not None:
            self._stop_flood(self._transcript)
        if self._ended is not None:  # usually because the process ends; without a connection it is useless
            await asyncio.wait((self._ended,), timeout=INTERRUPT_GRACE_S)
        self._running.cancel()

    @property
    def _max_sent_bytes(self) -> int:
        return self._cell_output_bytes if self._transcript is not None else _IDLE_MESSAGE_BYTES

    async def _read_message(self, text: bytes, *, whole: bool) -> None:
        """Read a message; large ones in a thread. A cell that sends too much is interrupted. After that only its small messages
        are parsed, because one of them reports the end of the cell."""
        transcript = self._transcript
        flooding = self._sent_bytes > self._max_sent_bytes
        if flooding and transcript is not None:
            self._stop_flood(transcript)
            await asyncio.sleep(len(text) / _FLOOD_BYTES_PER_S)
        if not whole or (flooding and len(text) > LARGE_BYTES):
            read = ParsedEvent(len(text), dropped=True)
        elif len(text) > LARGE_BYTES:
            left = transcript.elements_left if transcript is not None else 0
            read = await asyncio.to_thread(read_event, text, left)
        else:
            read = read_event(text, transcript.elements_left if transcript is not None else 0)
        if transcript is self._transcript:
            self._handle_event(read)

    def _handle_event(self, read: ParsedEvent) -> None:
        event = read.event or {}
        if event.get("event") == "ready" and not self._ready.done():
            self.can_be_copied = event.get("can_fork") is True
            self._ready.set_result(None)
        elif self._transcript is not None and (not event or self._belongs_to_cell(event)):
            self._transcript.add_event(read)
            if event.get("event") == "done" and self._done is not None and not self._done.done():
                self._done.set_result(None)

    def _belongs_to_cell(self, event: Mapping[str, object]) -> bool:
        """Whether the event carries the token of the running cell, which earlier cells cannot know."""
        return event.get("turn") == self._cell_token
