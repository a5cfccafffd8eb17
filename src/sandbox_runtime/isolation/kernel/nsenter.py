"""A program that joins a user and a network namespace, keeps CAP_NET_ADMIN, and executes another program.

Without root the server has capabilities only over namespaces that its user owns, and only from inside. The program nsenter does
not work: its execve drops all capabilities unless our user is mapped to root there, which is not so in every box.
"""

from __future__ import annotations

import ctypes
import os

from sandbox_runtime.isolation.kernel import libc, namespaces

_CAP_NET_ADMIN = 12
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_VERSION_3 = 0x20080522
_capset = libc.Function("capset", libc.POINTER, libc.POINTER)
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from sandbox_runtime.isolation.kernel.nsenter import main; main(sys.argv[2:])"
)


def argv(user_namespace: int, network_namespace: int, interpreter: str) -> list[str]:
    """Return what to put before a command's argv to run it there. Pass both descriptors on to it."""
    root = os.path.abspath(__file__)
    for _ in __name__.split("."):
        root = os.path.dirname(root)
    return [interpreter, "-I", "-S", "-c", _START, root, str(user_namespace), str(network_namespace)]


def main(arguments: list[str]) -> None:
    user, network, *command = arguments
    namespaces.setns(int(user), namespaces.NEW_USER)
    namespaces.setns(int(network), namespaces.NEW_NET)
    os.close(int(user))
    os.close(int(network))
    _keep_network_rights()
    os.execv(command[0], command)


def _keep_network_rights() -> None:
    """Make the capability ambient, so that it survives execve under any user id; it must be inheritable first."""
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    bit = 1 << _CAP_NET_ADMIN
    sets = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)
    _capset(ctypes.byref(header), ctypes.byref(sets))
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_NET_ADMIN, 0, 0)
