"""A network namespace as its own processes see it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sandbox_runtime
from sandbox_runtime.isolation.kernel import netlink, network

SOURCE = Path(sandbox_runtime.__file__).parents[1]
FRESH = ["unshare", "--user", "--map-root-user", "--net"]
BOUND_S = 20.0

DIAL_LOOPBACK = """
import socket
def dial(family, address):
    with socket.socket(family) as server, socket.socket(family) as client:
        try:
            server.bind((address, 0)); server.listen(); client.connect(server.getsockname())
        except OSError as error:
            return type(error).__name__
        return "connected"
def both():
    return dial(socket.AF_INET, "127.0.0.1"), dial(socket.AF_INET6, "::1")
"""


def in_fresh_namespace(program: str) -> str:
    argv = [*FRESH, sys.executable, "-c", f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n{DIAL_LOOPBACK}\n{program}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=BOUND_S, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip(f"this user may not make namespaces here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_loopback_answers_in_both_families_once_it_is_brought_up() -> None:
    program = "from sandbox_runtime.isolation.kernel import network\nprint(both()); network.bring_loopback_up(); print(both())"
    before, after = in_fresh_namespace(program).splitlines()
    assert "connected" not in before
    assert after == "('connected', 'connected')"


def test_bringing_loopback_up_twice_does_no_harm() -> None:
    program = "from sandbox_runtime.isolation.kernel.network import bring_loopback_up as up\nup(); up(); print(both())"
    assert in_fresh_namespace(program) == "('connected', 'connected')"


def test_with_loopback_alone_nothing_else_can_be_reached() -> None:
    program = """
from sandbox_runtime.isolation.kernel import network
network.bring_loopback_up()
public, metadata = (socket.AF_INET, "192.31.196.10"), (socket.AF_INET, "169.254.169.254")
for family, address in (public, metadata, (socket.AF_INET6, "2001:4:112::10")):
    try:
        socket.socket(family).connect((address, 80))
    except OSError as error:
        print(error.strerror)
"""
    assert in_fresh_namespace(program).splitlines() == ["Network is unreachable"] * 3


def test_loopback_is_the_only_interface_and_holds_the_only_addresses() -> None:
    program = """
import os
from sandbox_runtime.isolation.kernel import netlink, network
network.bring_loopback_up()
print(network.interfaces_of(os.getpid()))
print(sorted(str(route.block) for route in netlink.routes() if route.local))
print(network.has_default_route(os.getpid(), ipv6=False), network.has_default_route(os.getpid(), ipv6=True))
"""
    interfaces, addresses, routed = in_fresh_namespace(program).splitlines()
    assert "'lo'" in interfaces and "eth" not in interfaces
    assert addresses == "['127.0.0.0/8', '127.0.0.1/32', '::1/128']"
    assert routed == "False False"


def test_a_namespace_is_told_apart_from_our_own_and_its_owner_is_found() -> None:
    box = subprocess.Popen([*FRESH, "sh", "-c", "echo ready; exec sleep 60"], stdout=subprocess.PIPE, text=True)
    descriptors: list[int] = []
    try:
        assert box.stdout is not None
        if box.stdout.readline() != "ready\n":
            pytest.skip("this user may not make namespaces here")
        descriptors += [network.namespace_of(box.pid), network.own_namespace(), network.namespace_of(os.getpid())]
        theirs, ours, ours_again = descriptors
        assert not network.are_same(theirs, ours)
        assert network.are_same(ours, ours_again)
        descriptors.append(network.owner_of(theirs))
        assert os.path.samestat(os.fstat(descriptors[-1]), os.stat(f"/proc/{box.pid}/ns/user"))
    finally:
        box.kill()
        box.communicate(timeout=BOUND_S)
        for descriptor in descriptors:
            os.close(descriptor)


def test_the_addresses_of_this_host_are_among_its_local_routes() -> None:
    local = [route.block for route in netlink.routes() if route.local]
    assert any(str(block) == "127.0.0.1/32" for block in local)
    assert all(not route.unicast for route in netlink.routes() if route.local)
