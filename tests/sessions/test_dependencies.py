"""Packages of sessions: installed by the real client in a box, from an index on this host."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.sessions.conftest import platform_in
from tests.sessions.package_index import index, own_address, registry, tarball, unresponsive_index, wheel

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.model import Dependency, ExecutionKind, InstallState, Session, SessionState, Template
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.network]
WHEELS = {
    f"tinything-{version}-py3-none-any.whl": wheel("tinything", version, f"VERSION = '{version}'\n") for version in ("1.0", "2.0")
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def online(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sessions]:
    address = own_address()
    if address is None or os.geteuid() != 0 or shutil.which("nft") is None:
        pytest.skip("boxes with a network need root, nft and an address of this host here")
    with index(address, WHEELS) as url:
        facts = {"allow_network": True, "network_allow": (address,), "session_package_index": url}
        async with platform_in(tmp_path_factory.mktemp("online"), **facts) as platform:
            yield platform.sessions


@pytest.fixture(scope="module")
def address(online: Sessions) -> str:
    found = own_address()
    assert found is not None
    return found


async def wait_until_ready(sessions: Sessions, session: Session) -> Session:
    async with asyncio.timeout(60):
        while (session := await sessions.get(session.id)).state is SessionState.creating:
            await asyncio.sleep(0.05)
    return session


async def test_an_installed_package_is_found_by_every_kind_of_execution(online: Sessions) -> None:
    session = await online.create(SessionSpec())
    context = await online.contexts.open(session.id)
    said: list[bytes] = []
    session = await online.install(session.id, [Dependency("tinything", "1.0")], sink=lambda _, piece: said.append(piece))
    assert session.installation.state is InstallState.completed and said
    assert [(one.name, one.version) for one in session.installation.installed] == [("tinything", "1.0")]
    code = "import tinything\nprint(tinything.VERSION)"
    specs = [
        ExecutionSpec(code=code),
        ExecutionSpec(kind=ExecutionKind.cell, context=context.id, code=code),
        ExecutionSpec(kind=ExecutionKind.command, code="python -c 'import tinything; print(tinything.VERSION)'"),
        ExecutionSpec(kind=ExecutionKind.handler, code=f"{code}\ndef handler(event): return 1"),
    ]
    for spec in specs:
        done = await online.executions.run(session.id, spec)
        assert done.stdout == "1.0\n", (spec.kind, done.stderr)
    fresh = await online.contexts.open(session.id)
    assert (
        await online.executions.run(session.id, ExecutionSpec(kind=ExecutionKind.cell, context=fresh.id, code=code))
    ).stdout == "1.0\n"
    session = await online.install(session.id, [Dependency("tinything", ">=2")])
    assert [one.version for one in session.installation.installed] == ["2.0"]
    assert (await online.executions.run(session.id, ExecutionSpec(code=code))).stdout == "2.0\n"
    await online.delete(session.id)


async def test_a_session_is_creating_until_its_packages_are_there(online: Sessions) -> None:
    session = await online.create(SessionSpec(dependencies=(Dependency("tinything"),)))
    assert session.state is SessionState.creating
    ready = await wait_until_ready(online, session)
    assert (ready.state, ready.installation.installed[0].version) == (SessionState.running, "2.0")
    await online.delete(session.id)


async def test_packages_that_do_not_exist_fail_the_session_or_not_as_was_asked(online: Sessions) -> None:
    wanted = (Dependency("no-such-thing"),)
    failed = await wait_until_ready(online, await online.create(SessionSpec(dependencies=wanted)))
    assert failed.state is SessionState.failed and "no-such-thing" in failed.error
    lenient = await wait_until_ready(
        online, await online.create(SessionSpec(dependencies=wanted, fail_on_dependency_error=False))
    )
    assert (lenient.state, lenient.installation.state) == (SessionState.running, InstallState.failed)
    with pytest.raises(InvalidRequest, match="no-such-thing"):
        await online.install(lenient.id, wanted)
    await online.delete(lenient.id)


async def test_npm_packages_are_installed_and_found_by_what_runs_then(online: Sessions, address: str) -> None:
    await nodejs(online)
    session = await online.create(SessionSpec(template="node"))
    said: list[bytes] = []
    packages = {
        "tinything": {version: tarball("tinything", version, f"exports.version = '{version}'") for version in ("1.0.0", "2.0.0")},
        "@scoped/thing": {"0.1.0": tarball("@scoped/thing", "0.1.0", "exports.name = 'scoped'")},
    }
    with registry(address, packages) as url:
        wanted = [Dependency("tinything", "1.0.0"), Dependency("@scoped/thing")]
        session = await online.install(session.id, wanted, index_url=url, sink=lambda _, piece: said.append(piece))
        assert session.installation.state is InstallState.completed and b"added 2 packages" in b"".join(said)
        installed = {one.name: one.version for one in session.installation.installed}
        assert installed == {"tinything": "1.0.0", "@scoped/thing": "0.1.0"}
        code = "console.log(require('tinything').version, require('@scoped/thing').name)"
        for spec in (
            ExecutionSpec(code=code, language="javascript"),
            ExecutionSpec(kind=ExecutionKind.command, code=f'node -e "{code}"'),
            ExecutionSpec(kind=ExecutionKind.handler, language="javascript", code=f"{code}\nexports.handler = () => 1"),
        ):
            done = await online.executions.run(session.id, spec)
            assert done.stdout == "1.0.0 scoped\n", (spec.kind, done.stderr)
        session = await online.install(session.id, [Dependency("tinything", "^2.0")], index_url=url)
        assert {one.name: one.version for one in session.installation.installed}["tinything"] == "2.0.0"
        with pytest.raises(InvalidRequest, match="no-such-thing"):
            await online.install(session.id, [Dependency("no-such-thing")], index_url=url)
    assert (await online.get(session.id)).installation.state is InstallState.failed
    await online.delete(session.id)


async def nodejs(sessions: Sessions) -> None:
    """Add a Node.js template; skip if Node.js is not installed."""
    probe = await sessions.create(SessionSpec())
    found = await sessions.executions.run(probe.id, ExecutionSpec(kind=ExecutionKind.command, code="node --version"))
    await sessions.delete(probe.id)
    if found.exit_code != 0:
        pytest.skip("Node.js is not installed: sandbox languages install nodejs")
    await sessions.templates.add(Template(id="node", name="Node.js", runtime="nodejs20", created_ms=1))


async def test_an_index_that_does_not_answer_ends_the_installation_in_time(online: Sessions, address: str) -> None:
    session = await online.create(SessionSpec())
    with unresponsive_index(address) as url, pytest.raises(InvalidRequest, match="not installed within 3 s"):
        await online.install(session.id, [Dependency("tinything")], index_url=url, timeout_s=3)
    installation = (await online.get(session.id)).installation
    assert (installation.state, installation.error) == (InstallState.failed, "the packages were not installed within 3 s")
    assert installation.completed_ms is not None
    await online.delete(session.id)


async def test_an_index_whose_name_cannot_be_looked_up_is_out_of_reach(online: Sessions) -> None:
    session = await online.create(SessionSpec())
    with pytest.raises(Unavailable, match="the package index cannot be reached"):
        await online.install(session.id, [Dependency("tinything")], index_url="http://index.invalid/simple")
    assert (await online.get(session.id)).installation.state is InstallState.failed
    await online.delete(session.id)


async def test_an_index_that_cannot_be_reached_is_told(online: Sessions) -> None:
    session = await online.create(SessionSpec())
    with pytest.raises((Unavailable, InvalidRequest), match=r"within|cannot be reached|could not be installed"):
        await online.install(session.id, [Dependency("tinything")], index_url="http://198.51.100.1:9/simple", timeout_s=5)
    assert (await online.get(session.id)).installation.state is InstallState.failed
    assert (await online.executions.run(session.id, ExecutionSpec(code="print('still fine')"))).stdout == "still fine\n"
    await online.delete(session.id)


async def test_without_a_network_the_reason_is_given_before_anything_is_done(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        sessions: Any = platform.sessions
        with pytest.raises(Unavailable, match="allow_network"):
            await sessions.create(SessionSpec(dependencies=(Dependency("tinything"),)))
        assert (await sessions.list()).total == 0
