"""Process texts from callers off the event loop and within a time limit.

A thread is not enough for long texts: a regular expression holds the GIL while it runs, which blocks the event loop. Long texts
go to a separate process, which can also be killed at its time limit. Short texts are processed in place, because sending them
would cost more.
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
"""Shorter texts are processed in place, in less than a millisecond."""
LONG_CHARACTERS = 128 * 1024
"""Longer texts go to a process, those in between to a thread."""
CALL_TIMEOUT_S = 60.0
_KILL_TIMEOUT_S = 5.0
_PROGRAM = "from sandbox_runtime.judge.text_process import main; main()"


class TextWorkers:
    """A pool of up to `max_processes` processes, each started on first use. Close it after use."""

    def __init__(self, max_processes: int = 2, timeout_s: float = CALL_TIMEOUT_S) -> None:
        self._idle: list[asyncio.subprocess.Process] = []
        self._slots = asyncio.Semaphore(max_processes)
        self._timeout_s = timeout_s

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def run(self, characters: int, function: Callable[..., T], *arguments: Any) -> T:
        """Call the function in place, in a thread or in a process, depending on the length of its text.

        Raises what the function raises, and InvalidRequest if it exceeds the time limit.
        """
        if characters < SHORT_CHARACTERS:
            return function(*arguments)
        if characters < LONG_CHARACTERS:
            return await asyncio.to_thread(function, *arguments)
        request = await asyncio.to_thread(_pickle_request, function, arguments)
        if request is None:
            return await asyncio.to_thread(function, *arguments)
        async with self._slots:
            ok, result = await asyncio.to_thread(pickle.loads, await self._call_process(request))
        if not ok:
            raise result
        return result  # type: ignore[no-any-return]

    async def close(self) -> None:
        while self._idle:
            await _kill(self._idle.pop())

    async def _call_process(self, request: bytes) -> bytes:
        """A process that failed, or whose caller was cancelled, is killed and not used again."""
        process = self._idle.pop() if self._idle else await _start_process()
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await _exchange(process, request)
        except TimeoutError as error:
            raise InvalidRequest(f"the text could not be processed within {self._timeout_s:g} s; send a shorter one") from error
        except (OSError, asyncio.IncompleteReadError) as error:
            raise PlatformFault("the process for long texts ended unexpectedly") from error
        else:
            self._idle.append(process)
            return answer
        finally:
            if process not in self._idle:
                await asyncio.shield(_kill(process))


def _pickle_request(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes | None:
    """Return None for a call that cannot be pickled, such as that of a nested function."""
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
