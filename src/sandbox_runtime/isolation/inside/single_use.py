"""The runner of a single-use box: applies every layer itself, waits, and becomes the program.

The first process of its pid namespace only holds the namespace (kernel/pid_one.py). The runner's parent is the spawner, which
kills what the program left behind and then reports its end to the server. So a box costs one fork instead of two.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

from sandbox_runtime.isolation.inside import layers, wire
from sandbox_runtime.isolation.inside.runner import Order, Runner
from sandbox_runtime.isolation.inside.setup import Setup
from sandbox_runtime.isolation.kernel import descriptors
from sandbox_runtime.isolation.kernel.cgroup import tree


def run(orders: socket.SocketType, setup: Setup, filter_program: bytes, entries: list[int], warm_up: Callable[[], None]) -> Order:
    """Returns only with a warm order; otherwise ends in execve or _exit."""
    runner = Runner(orders, filter_program if setup.filtered else None, setup)
    try:
        if setup.has("descriptors"):
            descriptors.close_except([orders.fileno(), *entries])
        files = layers.enter_new_root(setup, lambda: _wait_for_network(orders))
        # The server holds the namespace longer than we do: freeing it takes time, and the end of the program must not wait for
        # that.
        mounted = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        tree.enter(entries)
        layers.hide_cgroups(setup)
        layers.drop_privileges(setup)
        if setup.rehearse:
            warm_up()
    except Exception as error:
        runner.fail(error)
    return runner.wait_for_order([files, mounted])


def _wait_for_network(orders: socket.SocketType) -> str:
    wire.send(orders, wire.NETWORK_NEEDED)
    data, _ = wire.receive(orders)
    if not data:
        os._exit(1)
    return str(wire.decode_from_server(data)["resolver"])
