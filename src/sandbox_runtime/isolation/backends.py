"""Open a backend by name."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.isolation.bubblewrap import BubblewrapBackend
from sandbox_runtime.isolation.namespaces import NamespacesBackend
from sandbox_runtime.isolation.none import NoneBackend
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Backend

NAMES = ("namespaces", "bubblewrap", "none")


def open_backend(name: str, options: BackendOptions) -> AbstractAsyncContextManager[Backend]:
    """Return a backend to enter with `async with`. Never falls back to another backend."""
    makers: dict[str, Callable[[BackendOptions], AbstractAsyncContextManager[Backend]]] = {
        "namespaces": NamespacesBackend,
        "bubblewrap": BubblewrapBackend,
        "none": NoneBackend,
    }
    if name not in makers:
        raise InvalidRequest(f"isolation must be one of {', '.join(NAMES)}, not {name!r}")
    return makers[name](options)
