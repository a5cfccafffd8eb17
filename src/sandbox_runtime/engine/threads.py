"""Blocking work on the files of a box, in a thread and to its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

LARGE_BYTES = 1024 * 1024
"""Less than this is copied sooner than a thread is started."""


async def run_to_end(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function in a thread. A caller that is cancelled waits until it has returned: until then it may use descriptors
    whose numbers would mean something else once they are closed."""
    task = asyncio.ensure_future(asyncio.to_thread(function, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    finally:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((task,))
