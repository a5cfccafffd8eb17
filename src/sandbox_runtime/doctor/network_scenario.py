"""The scene `lab`: a box with a network, opened by a backend that lives in a network of namespaces made for the attack."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

from sandbox_runtime.doctor import network_lab as world
from sandbox_runtime.doctor.attack_boxes import Arena
from sandbox_runtime.doctor.network_lab_parts import DNS_PORT, PORT
from sandbox_runtime.isolation.port import Backend, Opening
from sandbox_runtime.model import Policy

T = TypeVar("T")
_PROGRAMS = ("ip", "nft", "nsenter", "sh")
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Reopen = Callable[[], Opening]
"""Opens one more backend like the one under attack."""


class Laboratory:
    """A lab and a backend in it, opened when it is first asked for; `do` runs something in the event loop of the lab's host."""

    def __init__(self, reopen: Reopen) -> None:
        self._reopen = reopen
        self._undo = contextlib.AsyncExitStack()
        self._lab: world.Lab | None = None
        self._backend: Backend | None = None

    async def __aenter__(self) -> Laboratory:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._undo.aclose()

    async def backend(self, policy: Policy) -> Backend:
        """policy: of the boxes that attacks open. What the first of them starts for good shall be there before anything is
        counted."""
        if self._backend is None:
            self._lab = lab = self._undo.enter_context(world.open_lab())
            lab.listen(lab.host, DNS_PORT)
            opening = self._reopen()
            self._backend = await self.do(opening.__aenter__())
            self._undo.push_async_callback(lambda: self.do(opening.__aexit__(None, None, None)))
            await self.do(_open_and_close(self._backend, policy))
        return self._backend

    @staticmethod
    def missing() -> str:
        """Which programs it lacks on this host."""
        return ", ".join(name for name in _PROGRAMS if shutil.which(name, path=_SYSTEM_PATH) is None)

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        assert self._lab is not None
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._lab.loop))


async def _open_and_close(backend: Backend, policy: Policy) -> None:
    await (await backend.open(policy)).close()


async def lab(arena: Arena) -> None:
    arena.facts.update(_facts())
    if "first" not in arena.attack.programs:
        await arena.run(await arena.open_box(), "program")
        return
    neighbour = await arena.start(await arena.open_box(), "first")
    try:
        arena.tell(neighbour.words)
        await arena.run(await arena.open_box(), "program")
    finally:
        await neighbour.end()


def _facts() -> dict[str, object]:
    return {
        "port": PORT,
        "dns_port": DNS_PORT,
        "public": [world.PUBLIC_4],
        "host": [world.HOST_4, world.HOST_PUBLIC_4, world.HOST_6, world.HOST_PUBLIC_6],
        "gateway": world.GATEWAY_4,
        "metadata": [world.METADATA, world.METADATA_6, *world.METADATA_OF_OTHERS],
        "private": [
            *(address for address in world.OUTSIDE_4 if address not in (world.PUBLIC_4, world.METADATA)),
            world.UNIQUE_LOCAL_6,
            world.INNER_4,
            world.INNER_6,
        ],
        "translated": [address for address in world.OUTSIDE_6 if address not in (world.PUBLIC_6, "64:ff9b::801:909")],
    }
