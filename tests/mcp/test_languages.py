"""Each run_<language> tool with its options: programs are really built and run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client
from tests.mcp.conftest import client_of, held
from tests.mcp.results import figures, text

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAMS: list[tuple[str, str, dict[str, Any]]] = [
    ("javascript", "console.log(require('fs').readFileSync(0, 'utf8').trim())", {}),
    ("javascript", "const x: string = require('fs').readFileSync(0, 'utf8').trim(); console.log(x)", {"use_typescript": "true"}),
    ("typescript", "const text: string = 'hi'; console.log(text)", {"target": "ES2021"}),
    ("go", 'fmt.Println("hi")', {}),
    ("go", 'package main\nimport "fmt"\nfunc main() { fmt.Println("hi") }', {"build_flags": "-ldflags=-w"}),
    ("rust", 'println!("hi");', {"release": True}),
    ("java", 'public class Main { public static void main(String[] a) { System.out.println("hi"); } }', {}),
    ("java", 'public class Hi { public static void main(String[] a) { System.out.println("hi"); } }', {"main_class": "Hi"}),
    ("cpp", 'string s; cin >> s; cout << s << "\\n";', {}),
    ("cpp", '#include <cstdio>\n#ifdef FAST\nint main() { puts("hi"); }\n#endif', {"std": "c++20", "extra_flags": "-DFAST"}),
    ("csharp", 'Console.WriteLine("hi");', {}),
    ("shell", "cat", {}),
    ("shell", "false\necho hi", {"set_flags": "+e"}),
    ("shell", "echo hi", {"shell": "sh"}),
    ("python", "import sys; print(sys.stdin.read().strip())", {"use_venv": "true"}),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(workspace: Path, port: int) -> AsyncIterator[Client]:
    async with held(client_of("http", workspace, port)) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(client: Client) -> str:
    return str(figures(await client.call_tool("create_sandbox", {"memory_limit": "2G"}))["sandbox_id"])


@pytest.mark.requirement("mcp-4.08", "mcp-5.02", "mcp-5.03")
@pytest.mark.parametrize(("language", "code", "options"), PROGRAMS, ids=[f"{one[0]}-{'-'.join(one[2])}" for one in PROGRAMS])
async def test_a_program_is_built_and_run_with_its_options(
    client: Client, sandbox: str, language: str, code: str, options: dict[str, Any]
) -> None:
    arguments = {"sandbox_id": sandbox, "code": code, "options": options, "stdin": "hi\n", "timeout": 120}
    ran = await client.call_tool(f"run_{language}", arguments)
    if "NOT_AVAILABLE" in text(ran) or "is not installed" in text(ran):
        pytest.skip(text(ran))
    if "does not work on this host" in text(ran):
        pytest.skip(text(ran))
    assert not ran.is_error and figures(ran)["stdout"].strip() == "hi", text(ran)


@pytest.mark.requirement("mcp-4.14")
async def test_a_program_that_does_not_compile_is_told_so(client: Client, sandbox: str) -> None:
    ran = await client.call_tool("run_cpp", {"sandbox_id": sandbox, "code": "int main() { return nothing; }"})
    assert ran.is_error and ran.meta is not None and ran.meta["metadata"]["error_code"] == "COMPILATION_ERROR", text(ran)


@pytest.mark.requirement("mcp-4.14")
async def test_a_program_that_takes_too_long_is_told_so(client: Client, sandbox: str) -> None:
    ran = await client.call_tool("run_python", {"sandbox_id": sandbox, "code": "while True: pass", "timeout": 1})
    assert ran.is_error and figures(ran)["timed_out"]
    assert ran.meta is not None and ran.meta["metadata"]["error_code"] == "EXECUTION_TIMEOUT"


@pytest.mark.requirement("mcp-4.15")
async def test_a_wish_that_the_host_cannot_follow_is_noted_or_refused(client: Client, sandbox: str) -> None:
    noted = await client.call_tool(
        "run_go", {"sandbox_id": sandbox, "code": 'fmt.Println("hi")', "options": {"go_version": "1.3"}}
    )
    assert noted.is_error or any("1.3" in note for note in figures(noted)["notes"])
    refused = await client.call_tool("run_shell", {"sandbox_id": sandbox, "code": "ls", "packages": ["curl"]})
    assert refused.is_error and "PACKAGE_INSTALL_FAILED" in text(refused)
    unknown = await client.call_tool("run_cpp", {"sandbox_id": sandbox, "code": "x", "options": {"linker": "gold"}})
    assert unknown.is_error and "linker" in text(unknown)


@pytest.mark.requirement("mcp-4.08")
async def test_a_working_folder_is_where_the_program_runs(client: Client, sandbox: str) -> None:
    await client.call_tool("write_file", {"sandbox_id": sandbox, "path": "deep/x.txt", "content": "here"})
    arguments = {"sandbox_id": sandbox, "code": "print(open('x.txt').read())", "working_dir": "/workspace/deep"}
    assert figures(await client.call_tool("run_python", arguments))["stdout"] == "here\n"
    left = figures(await client.call_tool("list_files", {"sandbox_id": sandbox}))
    assert not [one for one in left["files"] if one["name"].startswith(".lang_exec")]


@pytest.mark.requirement("mcp-4.21")
@pytest.mark.parametrize(
    ("language", "code", "options"),
    [("shell", "sleep 1000", {"shell": "sh"}), ("python", "import time; time.sleep(1000)", {"python_cmd": "python3"})],
)
async def test_what_a_killed_program_was_built_from_is_gone(
    client: Client, sandbox: str, language: str, code: str, options: dict[str, Any]
) -> None:
    ran = await client.call_tool(f"run_{language}", {"sandbox_id": sandbox, "code": code, "options": options, "timeout": 1})
    assert ran.is_error and figures(ran)["timed_out"], text(ran)
    await nothing_is_left(client, sandbox)


@pytest.mark.requirement("mcp-4.21")
async def test_what_a_cancelled_program_was_built_from_is_gone(client: Client, sandbox: str) -> None:
    heard = asyncio.Event()

    async def hear(_progress: float, _total: float | None, _message: str | None) -> None:
        heard.set()

    asked = {"sandbox_id": sandbox, "code": "echo up; sleep 1000", "options": {"shell": "sh"}, "timeout": 300}
    task = asyncio.create_task(client.call_tool("run_shell", asked, progress_callback=hear))
    await asyncio.wait_for(heard.wait(), 60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await nothing_is_left(client, sandbox)


async def nothing_is_left(client: Client, sandbox: str) -> None:
    """A request that was cancelled is not waited for by whoever cancelled it: what it does after that takes a moment."""
    async with asyncio.timeout(60):
        while True:
            listed = figures(await client.call_tool("list_files", {"sandbox_id": sandbox}))["files"]
            if not [one for one in listed if one["name"].startswith(".lang_exec")]:
                return
            await asyncio.sleep(0.05)


@pytest.mark.requirement("mcp-4.16")
async def test_the_generic_tool_finds_the_language(client: Client, sandbox: str) -> None:
    ran = await client.call_tool("run_generic", {"sandbox_id": sandbox, "code": "def f():\n    return 'hi'\nprint(f())"})
    assert figures(ran)["language"] == "python" and figures(ran)["stdout"] == "hi\n"
