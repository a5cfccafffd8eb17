"""The guide, word for word: every client's snippet is started by the official client, and the agent's loop is run."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from tests.conftest import skip_where_the_host_lacks
from tests.mcp.conftest import environment

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs" / "guides" / "mcp.md").read_text()
SNIPPETS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)]
BIN = Path(sys.executable).parent


def servers(kind: str) -> Iterator[dict[str, Any]]:
    for snippet in SNIPPETS:
        (section,) = snippet.values()
        yield from (server for server in section.values() if kind in server)


def on_path(workspace: Path) -> dict[str, str]:
    return {**environment(workspace), "PATH": f"{BIN}:{os.environ.get('PATH', '')}"}


def commands() -> list[str]:
    """Each that a snippet has, once: several clients are told the same."""
    return sorted({json.dumps([server["command"], *server["args"]]) for server in servers("command")})


@pytest.mark.requirement("mcp-1.05")
@pytest.mark.parametrize("command_line", commands())
async def test_the_command_of_a_snippet_serves_the_official_client(command_line: str, workspace: Path) -> None:
    skip_where_the_host_lacks("namespaces")
    name, *words = json.loads(command_line)
    assert name == "mcp-sandboxd"
    command = StdioServerParameters(command=str(BIN / name), args=words, env=on_path(workspace))
    async with Client(command) as client:
        assert "create_sandbox" in {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.requirement("mcp-1.05")
def test_there_is_a_snippet_for_each_way() -> None:
    assert len(list(servers("command"))) >= 4
    (http,) = servers("url")
    assert http["url"].endswith("/mcp") and http["type"] == "http"
    for client in ("Claude Desktop", "Claude Code", "Cursor", "VS Code", "Windsurf", "Zed"):
        assert client in GUIDE


@pytest.mark.requirement("mcp-1.05")
def test_the_snippet_of_the_first_page_is_one_of_the_guide() -> None:
    (text,) = re.findall(r'```json\n(.*?"mcpServers".*?)```', (ROOT / "README.md").read_text().split("over MCP")[1], re.DOTALL)
    assert json.loads(text) in SNIPPETS


@pytest.mark.requirement("mcp-1.06")
async def test_the_loop_of_an_agent_works_word_for_word(workspace: Path, tmp_path: Path) -> None:
    skip_where_the_host_lacks("namespaces")
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    # The client hands no environment on but what it is told to; the test's own is for its folders.
    here = code.replace('"error"]', f'"error"], env={on_path(workspace)!r}')
    argv = [sys.executable, "-c", here]
    run = subprocess.run
    done = await asyncio.to_thread(run, argv, cwd=tmp_path, capture_output=True, text=True, timeout=200, env=on_path(workspace))
    assert done.returncode == 0, done.stderr
    assert "run_code: 42\n" in done.stdout
