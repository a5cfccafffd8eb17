"""What the keys of the configuration do: one server over HTTP with many of them set, and one over standard streams."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from mcp import Client
from mcp_types import CallToolResult, TextContent
from tests.mcp.conftest import http_server, stdio
from tests.mcp.results import figures

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config import McpConfig, keys, validate
from sandbox_runtime.mcp.config.effects import EFFECTS, RunMode, Where, ineffective_keys
from sandbox_runtime.mcp.config.model import EnvironmentSection, StreamingSection, is_known_image
from sandbox_runtime.mcp.config.variables import expand, redact, with_path
from sandbox_runtime.mcp.notifications import to_item

GUIDE = (Path(__file__).parent.parent.parent / "docs" / "guides" / "mcp.md").read_text()
pytestmark = pytest.mark.requirement("mcp-2.05")


def test_it_is_said_of_every_key_what_it_does() -> None:
    assert set(EFFECTS) == set(keys())
    for key, effect in EFFECTS.items():
        assert f"| `{key}` | {effect.description} | {effect.where} |" in GUIDE, key


def test_keys_that_were_set_and_do_nothing_are_known() -> None:
    config = validate({"tools": {"custom_tools": {"x": {}}}, "server": {"read_timeout": "5s", "name": "n"}}, "test")
    assert set(ineffective_keys(config, RunMode())) == {"tools.custom_tools", "server.read_timeout"}
    assert set(ineffective_keys(config, RunMode(http=True))) == {"tools.custom_tools"}
    logs = validate({"logging": {"output_file": "/x"}, "tools": {"enable_caching": False}}, "test")
    assert set(ineffective_keys(logs, RunMode(mounted=True, http=True))) == {"logging.output_file"}
    assert set(ineffective_keys(logs, RunMode(remote=True))) == {"tools.enable_caching"}
    assert ineffective_keys(McpConfig(), RunMode(mounted=True, remote=True)) == {}
    assert {key for key, one in EFFECTS.items() if one.where is Where.nowhere} == {
        "tools.custom_tools",
        "tools.environment.default_user",
    }


def test_variables_refer_to_variables() -> None:
    env = {"A": "1", "B": "${A}2", "C": "$B-$UNKNOWN-$$HOME", "PATH": "/x:$PATH"}
    assert expand(env, {"B": "old", "HOME": "/h"}) == {"A": "1", "B": "12", "C": "${A}2-$UNKNOWN-$HOME", "PATH": "/x:$PATH"}
    assert with_path(("ls",), ("/a b",), "/x:$PATH")[2] == "PATH='/a b':/x:\"$PATH\"''; export PATH; exec \"$@\""
    with pytest.raises(InvalidRequest, match="exceeds"):
        expand({"A": "x" * 30_000, "B": "$A", "C": "$A"}, {})
    section = EnvironmentSection()
    assert redact({"MY_API_KEY": "k", "github_token": "t", "NAME": "n"}, section) == {
        "MY_API_KEY": "***",
        "github_token": "***",
        "NAME": "n",
    }
    assert redact({"TOKEN": "t"}, EnvironmentSection(filter_sensitive=False)) == {"TOKEN": "t"}


@pytest.mark.parametrize(
    ("image", "known"),
    [
        ("ubuntu:22.04", True),
        ("python:3.11-slim", True),
        ("docker.io/library/node:18-alpine", True),
        ("mcr.microsoft.com/dotnet/sdk:8.0", True),
        ("debian@sha256:" + "0" * 64, True),
        ("mycorp/tools:1", False),
        ("python; rm", False),
        ("", False),
    ],
)
def test_names_of_usual_images_are_known_and_no_others(image: str, known: bool) -> None:
    assert is_known_image(image) is known


@pytest.mark.parametrize(
    "table",
    [
        {"sandbox": {"default_image": "mycorp/tools:1"}},
        {"tools": {"cache": {"warm_commands": ["'"]}}},
        {"tools": {"cache": {"warm_commands": [" "]}}},
        {"tools": {"environment": {"custom_paths": ["bin"]}}},
        {"tools": {"environment": {"default_shell": "bash"}}},
    ],
)
def test_what_could_not_act_is_refused(table: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        validate(table, "test")


def test_pieces_of_output_are_told_as_the_section_wants_them() -> None:
    assert to_item("stdout", "x", StreamingSection()) == {"type": "data", "data": "x"}
    assert to_item("stderr", "x", StreamingSection(enable_json=False)) == "x"
    small = to_item("stderr", "x" * 2000, StreamingSection(compress=True))
    assert isinstance(small, dict) and (small["type"], small["encoding"]) == ("error", "gzip+base64")
    assert gzip.decompress(base64.b64decode(small["data"])) == b"x" * 2000
    assert to_item("stdout", "x", StreamingSection(compress=True)) == {"type": "data", "data": "x"}


KEYS = {
    "SERVER_NAME": "Own",
    "SERVER_VERSION": "7.0",
    "SERVER_READ_TIMEOUT": "1s",
    "LOGGING_LEVEL": "info",
    "SANDBOX_DEFAULT_RESOURCES_MEMORY_LIMIT": "256M",
    "SANDBOX_DEFAULT_IMAGE": "debian:12",
    "TOOLS_CUSTOM_TOOLS": '{"dance": {}}',
    "TOOLS_ENVIRONMENT_CUSTOM_PATHS": "/workspace/bin",
    "TOOLS_ENVIRONMENT_DEFAULT_SHELL": "/bin/sh",
    "TOOLS_CACHE_ENABLE_WARMING": "true",
    "TOOLS_CACHE_WARM_COMMANDS": "uname -s",
    "TOOLS_CACHE_COMPRESSION_MIN": "10",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[int, Path]]:
    folder = tmp_path_factory.mktemp("effects")
    file = folder / "logs" / "own.log"
    words = {f"SANDBOXRUNNER_{name}": value for name, value in KEYS.items()}
    places = {"SANDBOXRUNNER_LOGGING_OUTPUT_FILE": str(file), "SANDBOXRUNNER_RESOURCES_CACHE_DIR": str(folder / "cache")}
    async with http_server(folder, "--tools", "all", **words, **places) as port:
        yield port, file


def client(port: int) -> Client:
    return Client(f"http://127.0.0.1:{port}/mcp")


async def call_tool(one: Client, tool: str, **arguments: object) -> CallToolResult:
    return await one.call_tool(tool, arguments)


async def sandbox(one: Client, **arguments: object) -> dict[str, Any]:
    return figures(await call_tool(one, "create_sandbox", **arguments))


@pytest.mark.asyncio(loop_scope="module")
async def test_the_server_is_called_as_configured_and_sandboxes_are_made_as_configured(served: tuple[int, Path]) -> None:
    async with client(served[0]) as one:
        assert (one.server_info.name, one.server_info.version) == ("Own", "7.0")
        made = await sandbox(one, environment={"A": "x", "B": "$A-y", "DB_PASSWORD": "hush"})
        assert made["config"]["memory_limit"] == 256 * 1024**2 and made["config"]["image"] == "debian:12"
        assert made["config"]["environment"]["DB_PASSWORD"] == "***" and made["config"]["environment"]["B"] == "x-y"
        own = {"sandbox_id": made["sandbox_id"]}
        await call_tool(
            one, "write_file", **own, path="bin/dance", content="#!/bin/sh\necho dancing $1 $B $SHELL $DB_PASSWORD\n", mode="755"
        )
        danced = await call_tool(one, "exec_command", **own, command="dance on")
        assert figures(danced)["stdout"] == "dancing on x-y /bin/sh hush\n"
        words = {"command": "sh -c 'echo $C; echo $PATH'", "environment": {"C": "${B}!", "PATH": "/extra:$PATH", "TOKEN": "t"}}
        result = await call_tool(one, "exec_command", **own, **words)
        first, path = figures(result)["stdout"].splitlines()
        assert first == "x-y!" and path.startswith("/workspace/bin:/extra:/") and path.endswith("/bin")
        meta = (result.meta or {})["metadata"]
        assert meta["environment"]["TOKEN"] == "***"
        refused = await call_tool(one, "create_sandbox", image="mycorp/tools:1")
        assert refused.is_error and (refused.meta or {})["metadata"]["error_code"] == "IMAGE_NOT_FOUND"


@pytest.mark.asyncio(loop_scope="module")
async def test_lines_go_to_the_file_and_keys_without_effect_are_told_there(served: tuple[int, Path]) -> None:
    async with client(served[0]) as one:
        made = await sandbox(one)
        await call_tool(one, "exec_command", sandbox_id=made["sandbox_id"], command="echo secret-word")
    lines = [json.loads(line) for line in served[1].read_text().splitlines()]
    idle = [line["key"] for line in lines if line["event"] == "a key of the configuration has no effect here"]
    assert idle == ["tools.custom_tools"]
    calls = [line for line in lines if line.get("sandbox") == made["sandbox_id"]]
    assert [line["tool"] for line in calls] == ["create_sandbox", "exec_command"] and calls[1]["took_ms"] > 0
    assert "secret-word" not in served[1].read_text()


@pytest.mark.requirement("mcp-10.03")
@pytest.mark.asyncio(loop_scope="module")
async def test_a_result_is_told_again_where_it_may_be_and_nothing_has_changed(served: tuple[int, Path]) -> None:
    async with client(served[0]) as one:
        made = await sandbox(one)
        own = {"sandbox_id": made["sandbox_id"], "command": "cat notes.txt"}
        await call_tool(one, "write_file", sandbox_id=made["sandbox_id"], path="notes.txt", content="first " * 100)

        async def cat(**words: object) -> tuple[object, str]:
            answer = await call_tool(one, "exec_command", **{**own, **words})
            return (answer.meta or {})["metadata"].get("cached"), figures(answer)["stdout"][:6]

        assert await cat() == (None, "first ")
        assert [await cat(cache=True) for _ in range(3)] == [(False, "first "), (True, "first "), (True, "first ")]
        assert await cat() == (None, "first "), "without the caller's word it is run"
        assert await cat(cache=True, environment={"A": "b"}) == (False, "first ")
        assert await cat(cache=True, working_dir="/workspace/.") == (True, "first ")
        await call_tool(
            one,
            "run_code",
            sandbox_id=made["sandbox_id"],
            language="bash",
            code="f=notes.txt; touch -r $f x; sed -i s/first/other/ $f; touch -r x $f; rm x",
        )
        assert await cat(cache=True) == (False, "other "), "the same size, the same time, other bytes"
        program = {"sandbox_id": made["sandbox_id"], "language": "python", "cache": True}
        result = [await call_tool(one, "run_code", code="print(open('notes.txt').read()[:5])", **program) for _ in range(2)]
        assert [figures(each)["cached"] for each in result] == [False, True] and figures(result[1])["stdout"] == "other\n"
        for code in ("open('new', 'a').write('x'); print(1)", "import sys; sys.exit(3)"):
            both = [await call_tool(one, "run_code", code=code, **program) for _ in range(2)]
            assert [figures(each)["cached"] for each in both] == [False, False], code


@pytest.mark.requirement("mcp-10.03")
@pytest.mark.asyncio(loop_scope="module")
async def test_a_warm_command_is_answered_without_being_run(served: tuple[int, Path]) -> None:
    async with client(served[0]) as one, asyncio.timeout(60):
        while True:  # it is run beside everything else when the server starts
            made = await sandbox(one)
            answer = await call_tool(one, "exec_command", sandbox_id=made["sandbox_id"], command="uname -s")
            assert figures(answer)["stdout"] == "Linux\n"
            await call_tool(one, "terminate_sandbox", sandbox_id=made["sandbox_id"])
            if figures(answer)["cached"]:
                break
    assert (served[1].parent.parent / "cache" / "cache.db").exists()
    async with httpx.AsyncClient() as web:
        result = (await web.get(f"http://127.0.0.1:{served[0]}/metrics")).json()["cache"]
    assert result["entries"] >= 1 and result["hits"] >= 1 and result["misses"] >= 1 and result["size_bytes"] > 0


@pytest.mark.asyncio(loop_scope="module")
async def test_a_request_that_does_not_arrive_is_given_up(served: tuple[int, Path]) -> None:
    head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", served[0])
    try:
        writer.write(f"{head}Accept: application/json, text/event-stream\r\n\r\n{{".encode())
        async with asyncio.timeout(60):
            result = await reader.readuntil(b"}}")
    finally:
        writer.close()
    assert result.startswith(b"HTTP/1.1 408 ") and b"did not arrive within 1 s" in result


@pytest.mark.asyncio(loop_scope="module")
async def test_a_request_of_very_many_values_is_refused_before_it_is_parsed(served: tuple[int, Path]) -> None:
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [' + b"[]," * 300_000 + b"1]}"
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(timeout=60) as web:
        answer = await web.post(f"http://127.0.0.1:{served[0]}/mcp", content=body, headers=headers)
    assert answer.status_code == 413 and "200000 JSON values" in answer.json()["error"]["message"]


async def test_without_caching_every_command_is_run(workspace: Path, tmp_path: Path) -> None:
    words = {"SANDBOXRUNNER_TOOLS_ENABLE_CACHING": "false", "SANDBOXRUNNER_RESOURCES_TEMP_DIR": str(tmp_path / "temp")}
    async with Client(stdio(workspace, **words)) as one:
        made = await sandbox(one)
        own = {"sandbox_id": made["sandbox_id"], "command": "echo hi", "cache": True}
        result = [await call_tool(one, "exec_command", **own) for _ in range(2)]
        assert [(each.meta or {})["metadata"].get("cached") for each in result] == [None, None]
        content = result[1].content[0]
        assert isinstance(content, TextContent) and "hi" in content.text
    assert (tmp_path / "temp").is_dir()
