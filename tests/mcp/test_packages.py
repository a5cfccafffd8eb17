"""Packages for a sandbox, from an index on this host."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from mcp import Client
from tests.mcp.conftest import stdio
from tests.mcp.test_tools import figures, text
from tests.sessions.package_index import index, own_address, wheel


@pytest.mark.network
@pytest.mark.requirement("mcp-4.18", "mcp-4.14")
async def test_packages_are_installed_and_found_afterwards(workspace: Path) -> None:
    address = own_address()
    if address is None or os.geteuid() != 0 or shutil.which("nft") is None:
        pytest.skip("boxes with a network need root, nft and an address of this host here")
    wheels = {f"tinything-{one}-py3-none-any.whl": wheel("tinything", one, f"version = {one!r}") for one in ("1.0", "2.0")}
    with index(address, wheels) as url:
        online = {"SANDBOX_ALLOW_NETWORK": "true", "SANDBOX_NETWORK_ALLOW": address, "SANDBOX_SESSION_PACKAGE_INDEX": url}
        async with Client(stdio(workspace, "--tools", "all", **online)) as client:
            at = {"sandbox_id": figures(await client.call_tool("create_sandbox", {"network_mode": "bridge"}))["sandbox_id"]}
            done = await client.call_tool("install_packages", {**at, "packages": ["tinything==1.0"]})
            assert not done.is_error and "tinything" in json.dumps(figures(done)), text(done)
            ran = await client.call_tool("run_python", {**at, "code": "import tinything; print(tinything.version)"})
            assert figures(ran)["stdout"] == "1.0\n"
            newer = {**at, "code": "import tinything; print(tinything.version)", "packages": ["tinything>=2"]}
            assert figures(await client.call_tool("run_python", newer))["stdout"] == "2.0\n"
            missing = await client.call_tool("install_packages", {**at, "packages": ["no-such-thing"]})
            assert missing.is_error and "PACKAGE_INSTALL_FAILED" in text(missing)
