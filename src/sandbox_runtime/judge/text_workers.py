"""Work on texts that callers send, off the event loop and within a time.

A thread is not enough for long texts: a regular expression holds the interpreter's lock for as long as it runs, and the loop
waits for it. Long ones go to a process of their own, which can also be ended when its time is up. Short ones stay where they are:
sending them away would cost more than working on them.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from collections.abc import Callable
from typing import Any, Self, TypeVar

from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.judge.text_process import LENGTH, dumps

T = TypeVar("T")

SHORT_CHARACTERS = 16 * 1024
"""Shorter texts are worked on in place: that takes less than a millisecond."""
LONG_CHARACTERS = 128 * 1024
"""Longer ones go to a process; those between, to a thread."""
CALL_TIMEOUT_S = 60.0
_KILL_TIMEOUT_S = 5.0
_PROGRAM = "from sandbox_runtime.judge.text_process import main; main()"


class TextWorkers:
    """most: processes at once; each is started when it is first needed. Whoever has this owes close()."""

    def __init__(self, most: int = 2, within_s: float = CALL_TIMEOUT_S) -> None:
        self._idle: list[asyncio.subprocess.Process] = []
        self._places = asyncio.Semaphore(most)
        self._within_s = within_s

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def run(self, characters: int, function: Callable[..., T], *arguments: Any) -> T:
        """Call the function where a text of this length is best worked on. Raises what it raises, and InvalidRequest where its
        time runs out."""
        if characters < SHORT_CHARACTERS:
            return function(*arguments)
        if characters < LONG_CHARACTERS:
            return await asyncio.to_thread(function, *arguments)
        request = await asyncio.to_thread(_pickle_request, function, arguments)
        if request is None:
            return await asyncio.to_thread(function, *arguments)
        async with self._places:
            ok, result = await asyncio.to_thread(pickle.loads, await self._exchanged(request))
        if not ok:
            raise result
        return result  # type: ignore[no-any-return]

    async def close(self) -> None:
        while self._idle:
            await _kill(self._idle.pop())

    async def _exchanged(self, request: bytes) -> bytes:
        """A process that failed, or whose caller was cancelled in between, is not used again."""
        process = self._idle.pop() if self._idle else await _start_process()
        try:
            async with asyncio.timeout(self._within_s):
                answer = await _exchange(process, request)
        except TimeoutError as error:
            raise InvalidRequest(f"the text could not be worked on within {self._within_s:g} s; send a shorter one") from error
        except (OSError, asyncio.IncompleteReadError) as error:
            raise PlatformFault("the process that works on long texts ended") from error
        else:
            self._idle.append(process)
            return answer
        finally:
            if process not in self._idle:
                await asyncio.shield(_kill(process))


def _pickle_request(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes | None:
    """None for what cannot be sent to another process, such as a function within a function."""
    try:
        return dumps((function, arguments))
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


async def _start_process() -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(sys.executable, "-c", _PROGRAM, stdin=pipe, stdout=pipe)


async def _exchange(process: asyncio.subprocess.Process, request: bytes) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(LENGTH.pack(len(request)))
    process.stdin.write(request)
    await process.stdin.drain()
    (size,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    return await process.stdout.readexactly(size)


async def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_KILL_TIMEOUT_S):
            await process.wait()
