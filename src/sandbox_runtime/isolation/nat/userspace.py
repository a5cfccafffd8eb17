"""Link driver without root: a program of our own user that holds a tap device in the box and uses ordinary sockets outside.

Theory of operation. pasta (or slirp4netns, the second choice) joins the user namespace that owns the box's network namespace,
creates the tap there, and stays in the host's network. It could reach whatever our user can, including the host's loopback, so
every mapping of host ports and of the gateway to the host is disabled, and the rest is up to the rules in the box, which are in
force before the program starts. The program dies with us: pasta by the parent death signal, slirp4netns when the pipe that we
hold breaks.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.kernel import egress, netlink, network
from sandbox_runtime.isolation.nat.namespace import INTERFACE, BoxNamespace
from sandbox_runtime.isolation.nat.options import NatOptions
from sandbox_runtime.isolation.nat.tools import Tools, kill, stderr_summary

_TUN = "/dev/net/tun"
_POLL_S = 0.005


class UserspaceDriver:
    """program: "pasta" or "slirp4netns"; None uses the first that is installed."""

    def __init__(self, options: NatOptions, tools: Tools, program: str | None = None) -> None:
        self._options = options
        self._tools = tools
        self.name = program or ("slirp4netns" if not tools.has("pasta") and tools.has("slirp4netns") else "pasta")

    def check(self) -> None:
        for program in (self.name, "nft", "setpriv", "sh"):
            self._tools.find(program)
        if not os.access(_TUN, os.R_OK | os.W_OK):
            raise Unavailable(f"network nat without root needs write access to {_TUN}: as root, chmod 0666 {_TUN}")

    def families(self) -> tuple[int, ...]:
        """Return the families that the host has a default route for. pasta supports IPv6 only on an interface with a link-local
        address, and slirp4netns calls its IPv6 experimental."""
        routes = netlink.routes()
        leading = [route for route in routes if route.unicast and route.block.prefixlen == 0]
        on_link = [route for route in routes if route.local and route.block.is_link_local]
        families = {4} & {route.block.version for route in leading}
        if self.name == "pasta" and _indexes(leading, 6) & _indexes(on_link, 6):
            families.add(6)
        if not families:
            raise Unavailable("network nat needs a default route, and this host has none")
        return tuple(sorted(families))

    async def connect(self, box: BoxNamespace, rules: egress.Rules, families: tuple[int, ...], undo: AsyncExitStack) -> None:
        if self.name == "pasta":
            await self._start(self._pasta(box, families), box.descriptors, undo, box, families)
        else:
            await self._start_slirp4netns(box, families, undo)

    async def sweep(self) -> list[str]:
        """Nothing of ours outlives the server here."""
        return []

    def close(self) -> None:
        pass

    def _pasta(self, box: BoxNamespace, families: Sequence[int]) -> list[str]:
        pool4, pool6 = ipaddress.IPv4Network(self._options.pool4), ipaddress.IPv6Network(self._options.pool6)
        ports = ["-t", "none", "-u", "none", "-T", "none", "-U", "none"]
        silent = ["--dns", "none", "--search", "none", "--no-dhcp", "--no-dhcpv6", "--no-ra", "--no-map-gw"]
        ours4 = ["-a", str(pool4[2]), "-n", "30", "-g", str(pool4[1])] if 4 in families else ["--ipv6-only"]
        ours6 = ["-a", str(pool6[2]), "-g", str(pool6[1])] if 6 in families else ["--ipv4-only"]
        there = ["--userns", f"/proc/self/fd/{box.owner_fd}", "--netns", f"/proc/self/fd/{box.network_fd}"]
        options = ["--foreground", "--quiet", "--config-net", "-I", INTERFACE]
        lifeline = [self._tools.find("setpriv"), "--pdeathsig", "KILL"]
        return [*lifeline, self._tools.find("pasta"), *options, *ours4, *ours6, *ports, *silent, *there]

    async def _start_slirp4netns(self, box: BoxNamespace, families: tuple[int, ...], undo: AsyncExitStack) -> None:
        theirs, lifeline = os.pipe()
        undo.callback(os.close, lifeline)
        try:
            await self._start(self._slirp4netns(box, theirs), (*box.descriptors, theirs), undo, box, families)
        finally:
            os.close(theirs)

    def _slirp4netns(self, box: BoxNamespace, exit_fd: int) -> list[str]:
        block = next(ipaddress.IPv4Network(self._options.pool4).subnets(new_prefix=24))
        safe = ["--disable-host-loopback", "--disable-dns", "--enable-seccomp"]
        there = ["--netns-type=path", f"--userns-path=/proc/self/fd/{box.owner_fd}", f"/proc/self/fd/{box.network_fd}", INTERFACE]
        return [self._tools.find("slirp4netns"), "--configure", f"--exit-fd={exit_fd}", f"--cidr={block}", *safe, *there]

    async def _start(
        self, argv: list[str], pass_fds: Sequence[int], undo: AsyncExitStack, box: BoxNamespace, families: Sequence[int]
    ) -> None:
        null = asyncio.subprocess.DEVNULL
        process = await self._tools.start(argv, stdin=null, stdout=null, pass_fds=pass_fds)
        undo.push_async_callback(kill, process)
        try:
            await asyncio.wait_for(_until_routed(process, box.pid, families), self._tools.timeout_s)
        except TimeoutError as error:
            raise PlatformFault(f"{self.name} did not set up a route in the box within {self._tools.timeout_s:g} s") from error
        undo.callback(asyncio.create_task(_drain(process)).cancel)


def _indexes(routes: Iterable[netlink.Route], version: int) -> set[int]:
    return {index for route in routes if route.block.version == version for index in route.interfaces}


async def _drain(process: asyncio.subprocess.Process) -> None:
    """Read stderr to its end, so that a guest cannot block the program by provoking messages."""
    assert process.stderr is not None
    while await process.stderr.read(1 << 16):
        pass


async def _until_routed(process: asyncio.subprocess.Process, pid: int, families: Sequence[int]) -> None:
    assert process.stderr is not None
    while not all(network.has_default_route(pid, ipv6=version == 6) for version in families):
        if process.returncode is not None:
            raise PlatformFault(f"the link of the box ended immediately: {stderr_summary(await process.stderr.read())}")
        await asyncio.sleep(_POLL_S)
