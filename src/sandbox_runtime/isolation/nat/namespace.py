"""Open the network namespace of a box and install rules in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.kernel import egress, network, nsenter
from sandbox_runtime.isolation.nat.tools import Tools

INTERFACE = "eth0"
_CHAINS_THAT_DROP = 3


@dataclass(frozen=True, slots=True)
class BoxNamespace:
    """owner_fd: the user namespace to enter first if we are not root; None as root."""

    pid: int
    network_fd: int
    owner_fd: int | None

    def enter_argv(self, tools: Tools) -> list[str]:
        """Return what to put before an argv to run it in the namespace. Pass `descriptors` on to it."""
        if self.owner_fd is None:
            return [tools.find("nsenter"), f"--net=/proc/self/fd/{self.network_fd}", "--"]
        return nsenter.argv(self.owner_fd, self.network_fd, sys.executable)

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (self.network_fd,) if self.owner_fd is None else (self.network_fd, self.owner_fd)


@contextmanager
def open_namespace(pid: int, *, root: bool, network_fd: int | None = None) -> Iterator[BoxNamespace]:
    """Open the namespace. Refuses one that cannot belong to a new box: the rules would cut off its processes, above all the
    host."""
    opened: list[int] = []
    try:
        try:
            opened.append(network.namespace_of(pid) if network_fd is None else os.dup(network_fd))
            own = network.own_namespace()
            opened.append(own)
            if not root:
                opened.append(network.owner_of(opened[0]))
            names = network.interfaces_of(pid)
        except OSError as error:
            raise PlatformFault(f"cannot open the network namespace of process {pid}: {error}") from error
        if network.are_same(opened[0], own):
            raise PlatformFault(f"process {pid} is not in a separate network namespace")
        if INTERFACE in names:
            raise PlatformFault(f"the network namespace of process {pid} already has a link")
        yield BoxNamespace(pid, opened[0], None if root else opened[2])
    finally:
        for descriptor in opened:
            os.close(descriptor)


async def install(tools: Tools, box: BoxNamespace, rules: egress.Rules) -> None:
    """Install the rules and read them back from the kernel: there must be no link without them."""
    script = f'"$0" -f - && exec "$0" list table inet {egress.TABLE}'
    argv = [*box.enter_argv(tools), tools.find("sh"), "-c", script, tools.find("nft")]
    listing = await tools.run(argv, stdin=egress.box_table(rules), pass_fds=box.descriptors)
    if listing.count("policy drop") != _CHAINS_THAT_DROP or "goto refuse" not in listing:
        raise PlatformFault("the network rules of the box are not in force although nft reported success")
