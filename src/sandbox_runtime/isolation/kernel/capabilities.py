"""Give up privileges for this process and everything it starts."""

from __future__ import annotations

import ctypes
import errno
from functools import cache

from sandbox_runtime.isolation.kernel import libc

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_READ = 23
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_VERSION_3 = 0x20080522
_MAX_CAPABILITIES = 64


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Word(ctypes.Structure):
    """Each capability set has 64 bits in two words."""

    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


_Words = _Word * 2
_capset = libc.Function("capset", libc.POINTER, libc.POINTER)
_capget = libc.Function("capget", libc.POINTER, libc.POINTER)
_OWN_HEADER = bytes(_Header(_VERSION_3, 0))
_NO_CAPABILITIES = bytes(_Words())


def drop_all() -> None:
    """Empty all five capability sets of the calling thread. The bounding set comes first, while we may still lower it: without
    it not even a file with capabilities, or user 0 of the namespace, regains anything at execve."""
    empty_bounding_set()
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _capset(_OWN_HEADER, _NO_CAPABILITIES)


def empty_bounding_set() -> None:
    """Empty the bounding set. Raises OSError if that is not permitted, unless the set is already empty."""
    try:
        for capability in range(count()):
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    except OSError:
        if any(libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) for capability in range(count())):
            raise


@cache
def count() -> int:
    """Return how many capabilities this kernel has. A spawner calls this before it forks, so that boxes need not."""
    for capability in range(_MAX_CAPABILITIES):
        try:
            libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return capability
    return _MAX_CAPABILITIES


def effective() -> int:
    """Return the effective set of the calling thread; bit n is capability n."""
    words = _Words()
    _capget(_OWN_HEADER, ctypes.byref(words))
    low, high = words[0].effective, words[1].effective
    return int(low) | int(high) << 32


def forbid_new_privileges() -> None:
    """Forbid that execve grants privileges. Required before an unprivileged process installs a seccomp filter."""
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def set_dumpable(dumpable: bool) -> None:
    """If not dumpable, other processes of the same user cannot read this process's memory, environment or descriptors through
    /proc. Changing user or group ids resets it."""
    libc.prctl(_PR_SET_DUMPABLE, int(dumpable), 0, 0, 0)


def die_with_parent(signal: int) -> None:
    """Have the kernel send us the signal when the thread that forked us ends. A parent that is already gone sends nothing:
    compare os.getppid() with the expected pid afterwards. Changing user or group ids undoes it, so call this after."""
    libc.prctl(_PR_SET_PDEATHSIG, int(signal), 0, 0, 0)
