"""Terminals in boxes: what somebody sees who sits in front of one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from tests.engine.environments import LIMITS, a_home, a_platform, run, work

from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine.environments import Environment, RunResult
from sandbox_runtime.engine.terminals import Size, Terminal, terminal
from sandbox_runtime.errors import Conflict, InvalidRequest, TooMany
from sandbox_runtime.model import Ending, ExecutionKind

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    async with a_platform(str(tmp_path_factory.mktemp("state"))) as opened:
        yield opened


class Screen:
    """Somebody in front of a terminal."""

    def __init__(self, home: Environment, size: Size, command: str, wall_s: float) -> None:
        self.terminal = Terminal(size)
        self.shown = b""
        self._seen = 0
        self._grown = asyncio.Event()
        asked = work(command, ExecutionKind.command, terminal=self.terminal, limits=LIMITS.replace(wall_s=wall_s))
        self.ran: asyncio.Task[RunResult] = asyncio.create_task(run(home, asked, self._show))

    def _show(self, stream: str, piece: bytes) -> None:
        assert stream == "stdout", piece
        self.shown += piece
        self._grown.set()

    async def sees(self, text: bytes) -> None:
        """After what was seen before."""
        while (at := self.shown.find(text, self._seen)) < 0:
            assert not self.ran.done(), self.shown
            self._grown.clear()
            try:
                await asyncio.wait_for(self._grown.wait(), 30)
            except TimeoutError:
                raise AssertionError((text, self.shown)) from None
        self._seen = at + len(text)

    async def ended(self) -> RunResult:
        return await asyncio.wait_for(self.ran, 30)


@asynccontextmanager
async def in_front_of(
    platform: Platform, command: str = "", size: Size | None = None, wall_s: float = 60.0
) -> AsyncIterator[Screen]:
    async with a_home(platform.environments) as home:
        screen = Screen(home, size or Size(), command, wall_s)
        try:
            yield screen
        finally:
            screen.ran.cancel()
            await asyncio.wait((screen.ran,))


async def test_a_shell_answers_and_ends_with_its_own_code(platform: Platform) -> None:
    async with in_front_of(platform) as screen:
        await screen.terminal.send_keys(b"echo it is $((6*7))\n")
        await screen.sees(b"it is 42")
        await screen.terminal.send_keys(b"exit 9\n")
        assert (await screen.ended()).outcome.exit_code == 9


async def test_programs_find_a_terminal_of_the_size_that_was_asked_for(platform: Platform) -> None:
    async with in_front_of(platform, "tty; stty size; tput colors || true", Size(33, 121)) as screen:
        await screen.ended()
        assert b"/dev/pts/" in screen.shown and b"33 121" in screen.shown


async def test_another_size_is_told_to_whoever_runs_in_front(platform: Platform) -> None:
    async with in_front_of(platform, "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done") as screen:
        await screen.sees(b"ready")
        await screen.terminal.resize(Size(50, 132))
        await screen.ended()
        assert b"50 132" in screen.shown


async def test_control_c_interrupts_the_program_and_not_the_shell(platform: Platform) -> None:
    async with in_front_of(platform) as screen:
        # It is in front once it speaks itself: a shell that is interrupted while it starts something may lose its terminal.
        await screen.terminal.send_keys(b"sh -c 'echo begun; exec sleep 100'\n")
        await screen.sees(b"begun\r\n")
        await screen.terminal.send_keys(b"\x03")
        await screen.sees(b"^C")
        await screen.sees(b"$ ")  # a shell forgets what was typed before it is back
        await screen.terminal.send_keys(b"echo still $((40+2))\n")
        await screen.sees(b"still 42")


async def test_what_is_typed_to_a_program_that_does_not_read_is_held_back(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_TAKEN_WITHIN_S", 0.3)
    async with in_front_of(platform, "stty raw -echo; echo ready; sleep 100") as screen:
        await screen.sees(b"ready")
        with pytest.raises(TooMany, match="does not read"):
            for _ in range(200):
                await screen.terminal.send_keys(b"x" * terminal.MAX_KEYS_BYTES)


async def test_a_terminal_whose_command_has_ended_takes_no_more(platform: Platform) -> None:
    async with in_front_of(platform, "true") as screen:
        await screen.ended()
        with pytest.raises(Conflict, match="ended"):
            await screen.terminal.send_keys(b"x")


async def test_a_shell_that_is_left_alone_ends_with_its_time(platform: Platform) -> None:
    async with in_front_of(platform, wall_s=0.5) as screen:
        assert (await screen.ended()).outcome.ending is Ending.timed_out


async def test_a_client_that_goes_away_leaves_nothing_behind(platform: Platform) -> None:
    async with a_home(platform.environments) as home:
        screen = Screen(home, Size(), "", 60.0)
        await screen.terminal.send_keys(b"sleep 1000 & echo begun\n")
        await screen.sees(b"begun\r\n")
        screen.ran.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await screen.ran
        found = await run(home, work("ls /proc | grep -c '^[0-9]'", ExecutionKind.command))
        assert int(found.outcome.stdout.text) <= 5


async def test_files_that_were_made_on_a_terminal_stay(platform: Platform) -> None:
    async with a_home(platform.environments) as home:
        screen = Screen(home, Size(), "echo kept > note", 60.0)
        await screen.ended()
        assert (await run(home, work("cat note", ExecutionKind.command))).outcome.stdout.text == "kept\n"


@pytest.mark.parametrize(("rows", "columns"), [(0, 80), (24, 0), (24, 10_001), (-1, 80)])
async def test_a_size_that_is_none_is_refused(rows: int, columns: int) -> None:
    with pytest.raises(InvalidRequest, match="1 to 10000"):
        Size(rows, columns)


async def test_too_much_at_once_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="at once"):
        await Terminal(Size()).send_keys(b"x" * (terminal.MAX_KEYS_BYTES + 1))
