"""What the tests of several rooms share: the guest's interpreter, a folder for state, and backends that are opened once."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox_runtime.isolation.backends import NAMES, open_backend
from sandbox_runtime.isolation.kernel.cgroup.root import open_cgroup_root
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Backend, Box
from sandbox_runtime.model import Policy

SINGLE_USE = "single-use"
OUT_OF_MEMORY = 137
GUEST = Path(__file__).parent.parent / ".state" / "guest" / "bin" / "python"


FIRST = ("isolation", "doctor")
"""Folders of tests that look for what is left: they come before those that leave servers open for the tests after them."""


def pytest_configure() -> None:
    """Restore signals that a background shell or nohup ignores: processes started by the tests inherit that."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGQUIT: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    for number, action in usual.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, action)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    items.sort(key=lambda item: item.path.relative_to(here).parts[0] not in FIRST)


@pytest.fixture(scope="session")
def guest_python() -> str:
    path = os.environ.get("SANDBOX_GUEST_PYTHON") or str(GUEST)
    if not os.access(path, os.X_OK):
        pytest.skip(f"there is no guest interpreter at {path}: make setup, or set SANDBOX_GUEST_PYTHON")
    return path


@pytest.fixture(scope="session")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def options(guest_python: str, state_dir: str) -> BackendOptions:
    return BackendOptions(guest_python=guest_python, state_dir=state_dir)


class SingleUse:
    """The namespaces backend with boxes that serve one command each, as the engine opens them."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.name = backend.name
        self.layers = backend.layers

    async def open(self, policy: Policy) -> Box:
        return await self.backend.open(dataclasses.replace(policy, single_use=True))


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=[SINGLE_USE, *NAMES])
async def backend(request: pytest.FixtureRequest, options: BackendOptions) -> AsyncIterator[Backend]:
    """Each backend in turn. A module that uses it runs its tests in the session's loop."""
    single = request.param == SINGLE_USE
    name = "namespaces" if single else request.param
    skip_where_the_host_lacks(name)
    async with open_backend(name, options) as opened:
        yield SingleUse(opened) if single else opened


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def namespaces(options: BackendOptions) -> AsyncIterator[Backend]:
    skip_where_the_host_lacks("namespaces")
    async with open_backend("namespaces", options) as opened:
        yield opened


@pytest.fixture(scope="session")
def single_use(namespaces: Backend) -> Backend:
    return SingleUse(namespaces)


def skip_where_memory_is_not_counted(exit_code: int) -> None:
    """Of a program that ends with this code because it ran out of memory: without control groups that cannot be told from other
    failures."""
    if exit_code != OUT_OF_MEMORY:
        return
    with open_cgroup_root("probe") as place:
        if "memory" not in place.controllers:
            pytest.skip(f"running out of memory cannot be told here: {place.missing['memory'].reason}")


def skip_where_nothing_can_be_paused() -> None:
    with open_cgroup_root("probe") as place:
        if not place.controllers:
            pytest.skip("nothing can be paused here: this user may make no control groups")


def skip_where_the_host_lacks(backend: str) -> None:
    """Asks the system's own tools, not the product: what they can do and the product cannot is a failure."""
    needed = {"namespaces": ["unshare", "-Urm", "true"], "bubblewrap": ["bwrap", "--ro-bind", "/", "/", "true"]}.get(backend)
    if needed is None:
        return
    if shutil.which(needed[0]) is None:
        pytest.skip(f"{needed[0]} is not installed: make setup as root")
    if subprocess.run(needed, capture_output=True, timeout=30).returncode:
        pytest.skip(f"this host lets its users make no namespaces: `{' '.join(needed)}` fails")
