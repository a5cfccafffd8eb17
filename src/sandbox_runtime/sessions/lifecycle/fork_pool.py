"""An environment for the next fork of a session, opened ahead of time.

A forked session is likely to be forked again: the environment of the next copy, with an empty interpreter for each of the
session's, is opened in the background and waits for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.engine.contexts import Context
from sandbox_runtime.engine.pools.standby import Standby
from sandbox_runtime.sessions.nodes.node import Environment


@dataclass(frozen=True, slots=True)
class PreparedFork:
    """An environment, and contexts in it that have run nothing."""

    environment: Environment
    contexts: tuple[Context, ...]


class ForkPool(Standby[int, PreparedFork]):
    """Holds one prepared fork, keyed by its number of contexts."""

    def __init__(self, open_fork: Callable[[int], Coroutine[Any, Any, PreparedFork]], idle_s: float) -> None:
        super().__init__(open_fork, _close, idle_s)


async def _close(fork: PreparedFork) -> None:
    await fork.environment.close()
