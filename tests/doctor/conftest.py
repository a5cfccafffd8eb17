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

Attacking = Callable[..., Awaitable[Verdict]]
Opened = Callable[[str], Awaitable[Backend]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def opened(options: BackendOptions) -> AsyncIterator[Opened]:
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
async def isolating(request: pytest.FixtureRequest, opened: Opened) -> Backend:
    """Each backend that isolates."""
    return await opened(request.param)


@pytest_asyncio.fixture(loop_scope="session")
async def open_house(opened: Opened) -> Backend:
    """The backend that isolates nothing."""
    return await opened("none")


@pytest.fixture
def attacking(options: BackendOptions) -> Attacking:
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
