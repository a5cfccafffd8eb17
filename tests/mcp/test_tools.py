"""Every tool, over each transport, driven by the official client."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client
from mcp_types import CallToolResult, ImageContent
from tests.mcp.conftest import client_of, held
from tests.mcp.results import figures, nothing_runs_in, text

pytestmark = pytest.mark.asyncio(loop_scope="module")
TRANSPORTS = ("stdio", "http", "ws")


class Bench:
    """A client with a sandbox that all tests of a transport share."""

    def __init__(self, client: Client, sandbox_id: str) -> None:
        self.client = client
        self.id = sandbox_id

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, {"sandbox_id": self.id, **arguments})


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=TRANSPORTS)
async def bench(request: pytest.FixtureRequest, workspace: Path, port: int) -> AsyncIterator[Bench]:
    async with held(client_of(request.param, workspace, port)) as client:
        made = await client.call_tool("create_sandbox", {"environment": {"COLOUR": "blue"}, "memory_limit": "512M"})
        yield Bench(client, figures(made)["sandbox_id"])


@pytest.mark.requirement("mcp-4.01", "mcp-4.02", "mcp-4.03", "mcp-3.01")
async def test_a_sandbox_is_made_listed_and_terminated(bench: Bench) -> None:
    made = await bench.client.call_tool("create_sandbox", {"cpu_limit": "0.5", "memory_limit": "256M", "disk_limit": "64M"})
    told = figures(made)
    assert text(made).startswith("Sandbox created successfully\n{") and told["status"] == "running"
    assert told["container_id"] == f"sandbox-{told['sandbox_id'][:8]}" and told["working_dir"] == "/workspace"
    listed = figures(await bench.client.call_tool("list_sandboxes", {}))
    assert {told["sandbox_id"], bench.id} <= {line["id"] for line in listed["sandboxes"]}
    ended = await bench.client.call_tool("terminate_sandbox", {"sandbox_id": told["sandbox_id"]})
    assert "terminated successfully" in text(ended)
    again = await bench.client.call_tool("terminate_sandbox", {"sandbox_id": told["sandbox_id"]})
    assert again.is_error


@pytest.mark.requirement("mcp-4.04")
async def test_a_command_runs_without_a_shell(bench: Bench) -> None:
    ran = await bench.call("exec_command", command="printf '%s|' 'a b' \\$HOME $COLOUR", working_dir="/tmp")
    assert figures(ran)["stdout"] == "a b|$HOME|$COLOUR|" and figures(ran)["working_dir"] == "/tmp"
    shell = await bench.call("exec_command", command="bash -c 'echo $COLOUR $SIZE; exit 3'", environment={"SIZE": "xl"})
    assert shell.is_error and figures(shell)["stdout"] == "blue xl\n" and "Exit Code: 3" in text(shell)
    assert shell.meta is not None and shell.meta["metadata"]["error_code"] == "EXECUTION_FAILED"


@pytest.mark.requirement("mcp-4.05", "mcp-4.06", "mcp-5.01")
@pytest.mark.parametrize(
    ("language", "code"),
    [("python", "print(6 * 7)"), ("javascript", "console.log(6 * 7)"), ("bash", "echo $((6 * 7))")],
)
async def test_code_runs_and_its_language_is_found_out(bench: Bench, language: str, code: str) -> None:
    named, guessed = await bench.call("run_code", code=code, language=language), await bench.call("run_code", code=code)
    assert figures(named)["stdout"] == figures(guessed)["stdout"] == "42\n"
    assert figures(guessed)["language"] == language and f"Language: {language}" in text(guessed)


@pytest.mark.requirement("mcp-4.07")
async def test_files_are_written_read_and_listed(bench: Bench) -> None:
    written = await bench.call("write_file", path="notes/a.txt", content="grüße")
    assert figures(written)["size"] == 7 and figures(written)["path"] == "/workspace/notes/a.txt"
    raw = base64.b64encode(bytes(range(256))).decode()
    await bench.call("upload_file", path="/workspace/notes/b.bin", content=raw, encoding="base64")
    assert figures(await bench.call("read_file", path="notes/a.txt"))["content"] == "grüße"
    assert figures(await bench.call("download_file", path="notes/b.bin", encoding="base64"))["content"] == raw
    listed = figures(await bench.call("list_files", path="/workspace/notes"))
    assert [(one["name"], one["size"], one["is_dir"]) for one in listed["files"]] == [("a.txt", 7, False), ("b.bin", 256, False)]
    deep = figures(await bench.call("list_files", recursive=True))
    assert "/workspace/notes/b.bin" in {one["path"] for one in deep["files"]}


@pytest.mark.requirement("mcp-4.08")
async def test_python_has_files_environment_and_stdin(bench: Bench) -> None:
    code = "import os, sys; print(open('data.txt').read(), os.environ['LIKE'], sys.stdin.read())"
    ran = await bench.call("run_python", code=code, files={"data.txt": "D"}, environment={"LIKE": "L"}, stdin="S")
    assert figures(ran)["stdout"] == "D L S\n" and "Command: python3 main.py" in text(ran)


@pytest.mark.requirement("mcp-4.05")
async def test_a_context_keeps_its_variables(bench: Bench) -> None:
    first = await bench.call("run_code", code="x = 20", context="new")
    context = figures(first)["context"]
    second = await bench.call("run_code", code="x += 1\nx * 2", context=context)
    assert "VALUE:\n42" in text(second)


@pytest.mark.requirement("mcp-4.09")
async def test_a_picture_comes_back_as_a_picture(bench: Bench) -> None:
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    code = (
        f"class Picture:\n    def _repr_png_(self):\n        import base64\n        return base64.b64decode('{pixel}')\nPicture()"
    )
    shown = await bench.call("run_code", code=code, context="new")
    pictures = [one for one in shown.content if isinstance(one, ImageContent)]
    assert [picture.mime_type for picture in pictures] == ["image/png"], shown


@pytest.mark.requirement("mcp-4.10")
async def test_a_copy_goes_on_by_itself(bench: Bench) -> None:
    await bench.call("write_file", path="shared.txt", content="before")
    copied = figures(await bench.call("fork_sandbox"))["sandbox_id"]
    await bench.call("write_file", path="shared.txt", content="after")
    there = await bench.client.call_tool("read_file", {"sandbox_id": copied, "path": "shared.txt"})
    assert figures(there)["content"] == "before"
    await bench.client.call_tool("terminate_sandbox", {"sandbox_id": copied})


@pytest.mark.requirement("mcp-4.11")
async def test_a_solution_is_judged_on_tests(bench: Bench) -> None:
    tests = [{"stdin": "2 3", "stdout": "5"}, {"stdin": "1 1", "stdout": "3"}]
    judged = figures(
        await bench.client.call_tool("judge_solution", {"code": "print(sum(map(int, input().split())))", "tests": tests})
    )
    assert (judged["accepted"], judged["passed"], judged["total"]) == (False, 1, 2)


@pytest.mark.requirement("mcp-4.12", "mcp-3.02")
async def test_what_is_asked_wrongly_is_a_result_that_says_why(bench: Bench) -> None:
    wrong = [
        ("run_code", {"code": "print(1)", "timeout": 301}, "timeout"),
        ("run_code", {"code": "  \n"}, "blank"),
        ("run_code", {"code": "print(1)", "working_dir": "/etc"}, "/workspace or /tmp"),
        ("read_file", {"path": "../../etc/passwd"}, "below /workspace"),
        ("read_file", {"path": "missing.txt"}, "FILE_NOT_FOUND"),
        ("write_file", {"path": "a", "content": "%", "encoding": "base64"}, "base64"),
        ("exec_command", {"command": "echo 'open"}, "split"),
        ("run_python", {"code": "1", "sandbox_id": "00000000-0000-4000-8000-000000000000"}, "SANDBOX_NOT_FOUND"),
        ("run_python", {"code": "1", "sandbox_id": "no-uuid"}, "sandbox_id"),
        ("run_python", {"code": "1", "cod": "2"}, "cod"),
    ]
    for tool, arguments, word in wrong:
        answer = await bench.client.call_tool(tool, {"sandbox_id": bench.id, **arguments})
        assert answer.is_error and word in text(answer), (tool, arguments, text(answer))


@pytest.mark.requirement("mcp-3.03")
async def test_a_tool_that_does_not_exist_is_an_error(bench: Bench) -> None:
    with pytest.raises(Exception, match="tool not found") as caught:
        await bench.client.call_tool("run_cobol", {})
    assert getattr(caught.value, "code", None) == -32000


@pytest.mark.requirement("mcp-4.13")
async def test_every_tool_tells_what_it_takes_and_gives(bench: Bench) -> None:
    tools = {tool.name: tool for tool in (await bench.client.list_tools()).tools}
    assert len(tools) == 23
    for tool in tools.values():
        assert tool.input_schema["type"] == "object" and tool.output_schema is not None and tool.description
    required = {name: set(tool.input_schema.get("required", ())) for name, tool in tools.items()}
    assert required["run_code"] == required["run_rust"] == {"sandbox_id", "code"}
    assert required["exec_command"] == {"sandbox_id", "command"} and required["create_sandbox"] == set()


@pytest.mark.requirement("mcp-3.04")
async def test_a_hundred_calls_on_one_connection_are_all_answered(bench: Bench) -> None:
    answers = await asyncio.gather(*(bench.call("run_python", code=f"print({number})") for number in range(100)))
    assert [figures(answer)["stdout"] for answer in answers] == [f"{number}\n" for number in range(100)]


@pytest.mark.requirement("mcp-3.05")
async def test_a_program_is_heard_while_it_runs_and_ends_with_its_request(bench: Bench) -> None:
    """It goes on for ever; its first words come as progress; then the request is cancelled, and nothing of it stays."""
    heard = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.set()

    code = "import time\nprint('40%', flush=True)\nwhile True: time.sleep(1)"
    arguments = {"sandbox_id": bench.id, "code": code, "timeout": 300}
    task = asyncio.create_task(bench.client.call_tool("run_python", arguments, progress_callback=on_progress))
    await asyncio.wait_for(heard.wait(), 60)
    busy = await bench.call("fork_sandbox")
    assert busy.is_error and "wait for them to end" in text(busy)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await nothing_runs_in(bench.client, bench.id)
