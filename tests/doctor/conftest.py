from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.doctor import Attack, Verdict, attack
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Policy

RunAttack = Callable[..., Awaitable[Verdict]]
OpenNamedBackend = Callable[[str], Awaitable[Backend]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def open_named_backend(options: BackendOptions) -> AsyncIterator[OpenNamedBackend]:
    """Backends by name, each opened when it is first asked for and then kept."""
    kept: dict[str, Backend] = {}
    async with AsyncExitStack() as stack:

        async def get(name: str) -> Backend:
            if name not in kept:
                skip_where_the_host_lacks(name)
                kept[name] = await stack.enter_async_context(open_backend(name, options))
            return kept[name]

        yield get


@pytest_asyncio.fixture(loop_scope="session", params=["namespaces", "bubblewrap"])
async def isolated_backend(request: pytest.FixtureRequest, open_named_backend: OpenNamedBackend) -> Backend:
    """Each backend that isolates."""
    return await open_named_backend(request.param)


@pytest_asyncio.fixture(loop_scope="session")
async def unisolated(open_named_backend: OpenNamedBackend) -> Backend:
    """The backend that isolates nothing."""
    return await open_named_backend("none")


@pytest.fixture
def run_attack(options: BackendOptions) -> RunAttack:
    async def run(backend: Backend, one: Attack, policy: Policy | None = None) -> Verdict:
        found = await attack(
            backend,
            policy or Policy(),
            [one],
            python=options.guest_python,
            state_dir=options.state_dir,
            reopen=lambda: open_backend(backend.name, options),
        )
        return found[0]

    return run
