"""The tools on sandboxes of a server, through its client: what `mcp-sandboxd --server` does, without the protocol around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.keys import new_key
from tests.api.servers import listening
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.remote import RemoteHost
from sandbox_runtime.mcp.tools.dispatch import call_tool
from sandbox_runtime.mcp.tools.registry import all_tools
from sandbox_runtime.mcp.tools.tool import ToolContext, ToolResponse
from sandbox_runtime.sdk import SandboxClient
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
ADD = "print(sum(map(int, input().split())))"
TESTS = [{"stdin": "1 2\n", "stdout": "3\n"}, {"stdin": "2 2\n", "stdout": "4\n"}]


class Bench:
    def __init__(self, client: SandboxClient) -> None:
        self._host = RemoteHost(client)
        self._tools = all_tools()

    async def call(self, name: str, **arguments: Any) -> ToolResponse:
        return await call_tool(self._tools[name], ToolContext(self._host, McpConfig()), arguments)

    async def figures(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.call(name, **arguments)
        assert answer.result is not None, answer.text
        return answer.result.model_dump()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bench(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bench]:
    skip_where_the_host_lacks("namespaces")
    folder = tmp_path_factory.mktemp("server")
    settings = Settings(state_dir=str(folder), require_keys=True, check_languages=False, log_level="error")
    async with listening(settings, sessions=True) as server:
        key = (await new_key(server.platform, "ann"))["Authorization"].removeprefix("Bearer ")
        async with SandboxClient(server.url, api_key=key) as client:
            yield Bench(client)


@pytest.mark.requirement("mcp-1.04", "mcp-4.11")
async def test_a_solution_is_judged_by_the_server(bench: Bench) -> None:
    good = await bench.figures("judge_solution", code=ADD, tests=TESTS)
    assert (good["accepted"], good["reason"], good["passed"], good["total"]) == (True, "accepted", 2, 2)
    wrong = await bench.figures("judge_solution", code=ADD, tests=[TESTS[0], {"stdin": "2 2\n", "stdout": "5\n"}])
    assert (wrong["accepted"], wrong["reason"], wrong["passed"]) == (False, "wrong_answer", 1)
    assert [(case["passed"], case["reason"]) for case in wrong["cases"]] == [(True, "accepted"), (False, "wrong_answer")]


@pytest.mark.requirement("mcp-4.11")
async def test_code_with_fences_in_it_is_judged_whole(bench: Bench) -> None:
    code = 'text = """\n```python\nprint(0)\n```\n"""\nprint(len(text.split()))'
    judged = await bench.figures("judge_solution", code=code, tests=[{"stdout": "3\n"}])
    assert judged["accepted"], judged


@pytest.mark.requirement("mcp-4.11", "mcp-4.14")
async def test_a_language_that_there_is_not_is_told(bench: Bench) -> None:
    refused = await bench.call("judge_solution", code=ADD, language="klingon", tests=TESTS)
    assert refused.error == "INVALID_PARAMETERS" and "language" in refused.text


@pytest.mark.requirement("mcp-4.20")
async def test_a_server_without_a_network_installs_nothing_and_says_why(bench: Bench) -> None:
    sandbox = (await bench.figures("create_sandbox"))["sandbox_id"]
    for language, package in (("python", "numpy"), ("go", "example.com/x"), ("java", "a:b:1")):
        refused = await bench.call("install_packages", sandbox_id=sandbox, packages=[package], language=language)
        assert refused.error == "PACKAGE_INSTALL_FAILED" and "network" in refused.text
    await bench.call("terminate_sandbox", sandbox_id=sandbox)


@pytest.mark.requirement("mcp-4.21")
async def test_what_a_killed_program_was_built_from_is_gone(bench: Bench) -> None:
    sandbox = (await bench.figures("create_sandbox"))["sandbox_id"]
    asked = {"sandbox_id": sandbox, "code": "sleep 1000", "options": {"shell": "sh"}, "timeout": 1}
    assert (await bench.figures("run_shell", **asked))["timed_out"]
    assert (await bench.figures("list_files", sandbox_id=sandbox))["files"] == []
    await bench.call("terminate_sandbox", sandbox_id=sandbox)
