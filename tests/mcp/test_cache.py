"""Bounds of what is kept: results, log files, folders, and the patience with slow clients."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sandbox_runtime.cli.mcp_server import log_stream
from sandbox_runtime.mcp.cache import ResultStore
from sandbox_runtime.mcp.cache.codec import decode, encode
from sandbox_runtime.mcp.config import validate
from sandbox_runtime.mcp.config.model import CacheSection
from sandbox_runtime.mcp.hosts.port import RunOutcome
from sandbox_runtime.mcp.startup import process_folder, to_settings
from sandbox_runtime.mcp.transports.routes import ClientTimeout, Counters, RequestGuard, Timeouts
from sandbox_runtime.store import open_store

pytestmark = pytest.mark.requirement("mcp-2.05")


def ran(stdout: str) -> RunOutcome:
    return RunOutcome(id="e", state="completed", exit_code=0, stdout=stdout, stderr="", ending="exited", wall_s=0.5)


@pytest.mark.requirement("mcp-10.03")
async def test_results_expire_and_are_bounded_in_number_and_size(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path}/own/cache.db") as store:
        few = ResultStore(store, CacheSection(max_entries=3))
        for number in range(9):
            await few.put(f"k{number}", "s", "ls", ran("x"), "d")
        assert (await few.statistics()).entries <= 3
        assert await few.find("none", "k8") is not None and await few.find("k0") is None
        small = ResultStore(store, CacheSection(max_cache_size=150, compression_level=0))
        await small.put("large", "s", "ls", ran("x" * 200), "d")
        assert await small.find("large") is None, "what alone is too large is not kept"
        await small.prune()
        assert (await small.statistics()).size_bytes <= 150
        await ResultStore(store, CacheSection(default_ttl=0.001)).put("brief", "s", "ls", ran("x"), "d")
        await asyncio.sleep(0.01)
        assert await few.find("brief") is None


@pytest.mark.parametrize(("level", "least", "compressed"), [(6, 10, True), (6, 10**6, False), (0, 10, False)])
def test_results_are_compressed_as_configured(level: int, least: int, compressed: bool) -> None:
    content, small = encode(ran("ü" * 5000), level, least)
    again = decode(content, compressed=small)
    assert small is compressed and (again.stdout, again.wall_s, again.cached, again.ok) == ("ü" * 5000, 0.5, True, True)
    assert encode(ran("x"), 9, 1)[1] is False, "where it would not become smaller it stays as it is"


def test_log_files_are_put_aside_as_configured(tmp_path: Path) -> None:
    told = {"output_file": str(tmp_path / "own.log"), "max_size": 1, "max_backups": 1, "compress": False}
    config = validate({"logging": told}, "test")
    for _ in range(3):
        with log_stream(config) as stream:
            for _ in range(12):
                stream.write("x" * 100_000 + "\n")
    with log_stream(config):
        pass
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".log"] * len(list(tmp_path.iterdir()))
    assert 2 <= len(list(tmp_path.iterdir())) <= 3 and (tmp_path / "own.log").stat().st_size < 1024**2


@pytest.mark.parametrize("goes", [True, False])
def test_the_folder_of_a_process_goes_with_it_where_it_shall(tmp_path: Path, goes: bool) -> None:
    config = validate({"sandbox": {"workspace_dir": str(tmp_path)}, "resources": {"cleanup_on_exit": goes}}, "test")
    with process_folder(config) as folder:
        (Path(folder) / "x").write_text("x")
    assert Path(folder).exists() is not goes


def test_keys_that_the_settings_have_too_are_handed_on(tmp_path: Path) -> None:
    sandbox = {"cleanup_interval": "7s", "max_sandboxes": 3, "database_path": str(tmp_path / "own.db"), "network_mode": "bridge"}
    config = validate({"sandbox": sandbox, "resources": {"max_file_size": 5000}, "logging": {"level": "warn"}}, "test")
    settings = to_settings(config, str(tmp_path))
    assert (settings.session_cleanup_s, settings.session_max, settings.session_max_per_owner) == (7.0, 3, 3)
    assert settings.database_url == f"sqlite:///{tmp_path}/own.db" and settings.allow_network
    assert (settings.session_file_max_bytes, settings.log_level) == (5000, "warning")


async def test_a_client_that_does_not_take_its_answer_is_let_go() -> None:
    sent: list[str] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    async def send(message: Any) -> None:
        sent.append(message["type"])
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    guard = RequestGuard(app, Counters(), None, Timeouts(60.0, 0.05))
    async with asyncio.timeout(60):
        with pytest.raises(ClientTimeout):
            await guard({"type": "http"}, receive, send)
    assert sent == ["http.response.start", "http.response.body"]
