"""Nat opens links; a NatLink is the network connection of one box.

Theory of operation. The box's init waits for the server's message meanwhile, so no guest code runs before we are done. Steps:
open the box's network namespace; list the host's own addresses; choose the resolvers; install the rules in the box and read
them back; connect the box (see veth, userspace). Each step that leaves something behind registers how to undo it, and a failure
or cancellation anywhere undoes everything before it is raised: a box has its link with its rules, or no link.
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
    """An open link.

    families: 4, or 4 and 6, depending on the host.
    resolv_conf: content for /etc/resolv.conf of the box.
    """

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
        """Close the link. Idempotent; continues to the end even if the caller is cancelled."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await self._undo.aclose()
        finally:
            self._forget(self)


class Nat:
    """One per server.

    root: whether to connect as root; by default whether this process is root.
    program: see UserspaceDriver.
    """

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
        """Raise Unavailable, with the fix, if this host cannot give boxes a network."""
        self._driver.check()

    async def sweep(self) -> list[str]:
        """Remove what dead servers left in the kernel and return its names. Call once at start-up."""
        self.check()
        return await self._driver.sweep()

    async def open(self, init_pid: int, box_id: str, allow: Sequence[str] = (), *, network_fd: int | None = None) -> NatLink:
        """Open a link for the box of process `init_pid`. It is in force when this returns.

        allow: addresses and CIDR blocks exempt from the refused ones.
        network_fd: the box's network namespace, if the process's /proc entries are not readable for us.
        """
        self.check()
        undo = AsyncExitStack()
        try:
            link = await self._open(init_pid, box_id, allow, network_fd, undo)
        except OSError as error:
            await self._undo_all(undo)
            raise PlatformFault(f"cannot open the network of box {box_id}: {error}") from error
        except BaseException:
            await self._undo_all(undo)
            raise
        self._links.add(link)
        return link

    async def _undo_all(self, undo: AsyncExitStack) -> None:
        """Undo everything, to the end even if cancelled again."""
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
            raise InvalidRequest(f"network allow: {error}; use addresses or CIDR blocks") from error
        chosen = resolvers.choose(self._options, rules, families)
        return egress.rules(allow, own, self._options.pools, chosen.exempt), chosen

    async def close(self) -> None:
        """Close all open links, then release our name."""
        try:
            closing = [link.close() for link in [*self._links]]
            results = await asyncio.gather(*closing, *self._undo_tasks, return_exceptions=True)
        finally:
            self._driver.close()
        for result in results:
            if isinstance(result, BaseException):
                raise result


def host_addresses() -> list[str]:
    """Return the blocks that the host itself answers for. A local route for everything belongs to a transparent proxy and is
    skipped."""
    return [str(route.block) for route in netlink.routes() if route.local and route.block.prefixlen > 0]
