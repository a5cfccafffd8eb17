"""Work that may wait for a disk, done in threads: the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """A caller that is cancelled still waits for the end of the work, because what the work uses is closed afterwards. So each
    piece of work has to be short, or bounded at least."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await _wait_for(future)
        raise


async def _wait_for(future: asyncio.Future[T]) -> None:
    while not future.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([future])
    # Looked at, for nobody is left who waits for its exception.
    if not future.cancelled():
        future.exception()


async def iterate_in_thread(source: Generator[bytes, None, None]) -> AsyncGenerator[bytes, None]:
    """What a generator gives, each piece made in a thread when it is asked for. Ends the generator, also when left early."""
    try:
        while (chunk := await in_thread(lambda: next(source, None))) is not None:
            yield chunk
    finally:
        source.close()


def rechunk(source: Iterable[bytes], size: int) -> Generator[bytes, None, None]:
    """As gathered, for what is made in a thread."""
    waiting = bytearray()
    for chunk in source:
        waiting += chunk
        if len(waiting) >= size:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


async def rechunk_async(source: AsyncIterable[bytes], size: int) -> AsyncGenerator[bytes, None]:
    """The same bytes in pieces of at least that size, but for the last: each may cost a thread or a request."""
    waiting = bytearray()
    async for chunk in source:
        waiting += chunk
        if len(waiting) >= size:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)
