"""The scenario `lab`: a box with a network, opened by a backend inside a network of namespaces."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

from sandbox_runtime.doctor import network_lab as network_lab
from sandbox_runtime.doctor.attack_boxes import AttackRun
from sandbox_runtime.doctor.network_lab_parts import DNS_PORT, PORT
from sandbox_runtime.isolation.port import Backend, BackendContext
from sandbox_runtime.model import Policy

T = TypeVar("T")
_PROGRAMS = ("ip", "nft", "nsenter", "sh")
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Reopen = Callable[[], BackendContext]
"""Opens another backend like the one under attack."""


class LabBackend:
    """A lab with a backend in it, opened on first use. `do` runs a coroutine in the event loop of the lab's host."""

    def __init__(self, reopen: Reopen) -> None:
        self._reopen = reopen
        self._undo = contextlib.AsyncExitStack()
        self._lab: network_lab.Lab | None = None
        self._backend: Backend | None = None

    async def __aenter__(self) -> LabBackend:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._undo.aclose()

    async def backend(self, policy: Policy) -> Backend:
        """Return the backend, after opening one box under the policy: what the first box starts must exist before the first
        snapshot."""
        if self._backend is None:
            self._lab = lab = self._undo.enter_context(network_lab.open_lab())
            lab.listen(lab.host, DNS_PORT)
            opening = self._reopen()
            self._backend = await self.do(opening.__aenter__())
            self._undo.push_async_callback(lambda: self.do(opening.__aexit__(None, None, None)))
            await self.do(_open_and_close(self._backend, policy))
        return self._backend

    @staticmethod
    def missing() -> str:
        """Return the required programs that are not installed, separated by commas."""
        return ", ".join(name for name in _PROGRAMS if shutil.which(name, path=_SYSTEM_PATH) is None)

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        assert self._lab is not None
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._lab.loop))


async def _open_and_close(backend: Backend, policy: Policy) -> None:
    await (await backend.open(policy)).close()


async def run_lab(attack_run: AttackRun) -> None:
    attack_run.facts.update(_facts())
    if "first" not in attack_run.attack.programs:
        await attack_run.run_program(await attack_run.open_box(), "program")
        return
    neighbour = await attack_run.start_program(await attack_run.open_box(), "first")
    try:
        attack_run.pass_to_second(neighbour.ready_text)
        await attack_run.run_program(await attack_run.open_box(), "program")
    finally:
        await neighbour.end()


def _facts() -> dict[str, object]:
    return {
        "port": PORT,
        "dns_port": DNS_PORT,
        "public": [network_lab.PUBLIC_4],
        "host": [network_lab.HOST_4, network_lab.HOST_PUBLIC_4, network_lab.HOST_6, network_lab.HOST_PUBLIC_6],
        "gateway": network_lab.GATEWAY_4,
        "metadata": [network_lab.METADATA, network_lab.METADATA_6, *network_lab.OTHER_METADATA],
        "private": [
            *(address for address in network_lab.OUTSIDE_4 if address not in (network_lab.PUBLIC_4, network_lab.METADATA)),
            network_lab.UNIQUE_LOCAL_6,
            network_lab.INNER_4,
            network_lab.INNER_6,
        ],
        "translated": [address for address in network_lab.OUTSIDE_6 if address not in (network_lab.PUBLIC_6, "64:ff9b::801:909")],
    }
