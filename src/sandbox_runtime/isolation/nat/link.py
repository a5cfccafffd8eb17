"""Nat opens links; a NatLink is one box's way out.

Theory of operation. The box's init waits for the server's word while we work, so no guest code runs before we are done. In
order: hold the box's network namespace by descriptor; list the host's own addresses; choose the resolvers; put the rules into
the box and read them back; wire the box (see veth, userspace). Each step that leaves something behind registers how to undo it
first or at once, and a failure or a cancellation anywhere undoes all of it before it is raised: a box has its link with its
rules, or no link.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Protocol

from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.isolation.kernel import egress, netlink
from sandbox_runtime.isolation.nat import namespace, resolvers
from sandbox_runtime.isolation.nat.namespace import BoxNamespace
from sandbox_runtime.isolation.nat.options import NatOptions
from sandbox_runtime.isolation.nat.tools import Tools
from sandbox_runtime.isolation.nat.userspace import UserspaceDriver
from sandbox_runtime.isolation.nat.veth import VethDriver


class LinkDriver(Protocol):
    name: str

    def check(self) -> None: ...
    def families(self) -> tuple[int, ...]: ...
    async def connect(self, box: BoxNamespace, rules: egress.Rules, families: tuple[int, ...], undo: AsyncExitStack) -> None: ...
    async def sweep(self) -> list[str]: ...
    def close(self) -> None: ...


class NatLink:
    """families: 4, or 4 and 6, as far as the host has them. resolv_conf: the text the box should find in /etc/resolv.conf."""

    def __init__(
        self,
        box_id: str,
        driver: str,
        families: tuple[int, ...],
        resolv_conf: str,
        undo: AsyncExitStack,
        forget: Callable[[NatLink], None],
    ) -> None:
        self.box_id = box_id
        self.driver = driver
        self.families = families
        self.resolv_conf = resolv_conf
        self._undo = undo
        self._forget = forget
        self._closing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Idempotent; goes on to its end even if the caller is cancelled meanwhile."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await self._undo.aclose()
        finally:
            self._forget(self)


class Nat:
    """One for a server. root: whether to wire with root's rights; the default is what we are. program: see UserspaceDriver."""

    def __init__(self, options: NatOptions | None = None, *, root: bool | None = None, program: str | None = None) -> None:
        self._options = options = options or NatOptions()
        self._tools = Tools(options.tool_path, options.tool_timeout_s)
        self._root = os.geteuid() == 0 if root is None else root
        self._driver: LinkDriver = (
            VethDriver(options, self._tools) if self._root else UserspaceDriver(options, self._tools, program)
        )
        self._links: set[NatLink] = set()
        self._undo_tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Nat:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    def check(self) -> None:
        """Unavailable, with the fix, where this host cannot give boxes a network."""
        self._driver.check()

    async def sweep(self) -> list[str]:
        """Remove what servers that died left in the kernel; the names of what went. To be called once at start."""
        self.check()
        return await self._driver.sweep()

    async def open(self, init_pid: int, box_id: str, allow: Sequence[str] = (), *, network_fd: int | None = None) -> NatLink:
        """A link for the box that process init_pid lives in, in force when this returns. allow: addresses and CIDR blocks exempt
        from the refusals. network_fd: the box's network namespace, for a process whose /proc entries are closed to us."""
        self.check()
        undo = AsyncExitStack()
        try:
            link = await self._open(init_pid, box_id, allow, network_fd, undo)
        except OSError as error:
            await self._undo_all(undo)
            raise PlatformFault(f"could not open the network of box {box_id}: {error}") from error
        except BaseException:
            await self._undo_all(undo)
            raise
        self._links.add(link)
        return link

    async def _undo_all(self, undo: AsyncExitStack) -> None:
        """To its end, even if we are cancelled once more meanwhile."""
        task = asyncio.create_task(undo.aclose())
        self._undo_tasks.add(task)
        task.add_done_callback(self._undo_tasks.discard)
        await asyncio.shield(task)

    async def _open(
        self, init_pid: int, box_id: str, allow: Sequence[str], network_fd: int | None, undo: AsyncExitStack
    ) -> NatLink:
        families = self._driver.families()
        rules, chosen = self._rules(allow, families)
        with namespace.open_namespace(init_pid, root=self._root, network_fd=network_fd) as box:
            await namespace.install(self._tools, box, rules)
            await self._driver.connect(box, rules, families, undo)
        return NatLink(box_id, self._driver.name, families, chosen.resolv_conf, undo, self._links.discard)

    def _rules(self, allow: Sequence[str], families: tuple[int, ...]) -> tuple[egress.Rules, resolvers.Resolvers]:
        own = [*host_addresses(), *self._options.refuse]
        try:
            rules = egress.rules(allow, own, self._options.pools)
        except ValueError as error:
            raise InvalidRequest(f"network allow: {error}; give addresses or CIDR blocks") from error
        chosen = resolvers.choose(self._options, rules, families)
        return egress.rules(allow, own, self._options.pools, chosen.exempt), chosen

    async def close(self) -> None:
        """All links that are still open, then our own name."""
        try:
            closing = [link.close() for link in [*self._links]]
            results = await asyncio.gather(*closing, *self._undo_tasks, return_exceptions=True)
        finally:
            self._driver.close()
        for result in results:
            if isinstance(result, BaseException):
                raise result


def host_addresses() -> list[str]:
    """Every block the host takes for itself. A local route for everything is no address but a transparent proxy's doing."""
    return [str(route.block) for route in netlink.routes() if route.local and route.block.prefixlen > 0]
