"""Packages of programs: installed by the package manager of each language, from registries on this host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.sandboxes.conftest import Api
from tests.api.servers import listening
from tests.mcp.tiny_packages import Online, registries
from tests.sessions.package_index import address_for_boxes

from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.remote import RemoteHost
from sandbox_runtime.mcp.tools.dispatch import call_tool
from sandbox_runtime.mcp.tools.registry import all_tools
from sandbox_runtime.mcp.tools.tool import ToolContext
from sandbox_runtime.sdk import SandboxClient
from sandbox_runtime.sdk.sandbox_runner import SandboxRunner
from sandbox_runtime.settings import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.network]
TELL_GO = 'package main\nimport ("fmt"; "example.com/tiny")\nfunc main() { fmt.Println(tiny.Version) }'
TELL_JAVA = """public class Told {
    public static void main(String[] words) throws Exception {
        System.out.println(new String(Told.class.getResourceAsStream("/tiny.txt").readAllBytes()));
    }
}"""


@pytest.fixture(scope="module")
def online() -> Iterator[Online]:
    with registries(address_for_boxes()) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory, online: Online) -> AsyncIterator[Api]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")),
        allow_network=True,
        network_allow=(online.server["SANDBOX_NETWORK_ALLOW"],),
        session_package_index=online.server["SANDBOX_SESSION_PACKAGE_INDEX"],
        check_languages=False,
        log_level="error",
    )
    async with listening(settings, sessions=True) as server, Api(base_url=server.url, timeout=300) as opened:
        opened.platform = server.platform
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(api: Api, online: Online) -> str:
    wishes: dict[str, Any] = {"network_mode": "bridge", "environment": online.sandbox, "resources": {"memory_limit": "1G"}}
    return await api.sandbox(**wishes)


def skip_if_missing(output: str) -> None:
    if any(sign in output for sign in ("is not installed", "does not work on this host", "command not found")):
        pytest.skip(output)


async def run_code(api: Api, sandbox: str, language: str, code: str, *packages: str, **more: Any) -> dict[str, Any]:
    body = {"code": code, "language": language, "packages": list(packages), "timeout": 300, **more}
    answer = await api.post(f"/api/v1/sandboxes/{sandbox}/code", json=body)
    skip_if_missing(answer.text)
    assert answer.status_code in (200, 202), answer.text
    return dict(answer.json())


@pytest.mark.requirement("sandboxes-6.04")
@pytest.mark.parametrize(
    ("language", "package", "code", "printed"),
    [
        ("python", "tinything==1.0", "import tinything; print(tinything.version)", "1.0"),
        ("nodejs", "tinything@1.0.0", "console.log(require('tinything').version)", "1.0.0"),
        ("go", "example.com/tiny@v1.0.0", TELL_GO, "1.0"),
        ("java", "com.example:tiny:1.0", TELL_JAVA, "1.0"),
    ],
)
async def test_packages_are_installed_and_found_by_what_runs_later(
    api: Api, sandbox: str, language: str, package: str, code: str, printed: str
) -> None:
    first = await run_code(api, sandbox, language, code, package)
    assert (first["output"].strip(), first["exit_code"], first["language"]) == (printed, 0, language), first
    later = await run_code(api, sandbox, language, code)
    assert later["output"].strip() == printed
    listed = await api.request_json("GET", f"/api/v1/sandboxes/{sandbox}/files")
    assert not [item for item in listed["data"] if item["name"].startswith(".lang_exec")]


@pytest.mark.requirement("sandboxes-6.05")
async def test_a_program_with_packages_is_followed(api: Api, sandbox: str) -> None:
    started = await run_code(api, sandbox, "java", TELL_JAVA, "com.example:tiny:1.0", stream=True)
    result = await api.get(f"/api/v1/sandboxes/{sandbox}/streams/{started['stream_id']}")
    assert '"data": "1.0\\n"' in result.text and '"type": "complete"' in result.text


@pytest.mark.requirement("sandboxes-11.01")
async def test_the_client_brings_packages_along(api: Api, sandbox: str) -> None:
    def work() -> str:
        with SandboxRunner(str(api.base_url)) as runner:
            return (
                runner.get_sandbox(sandbox)
                .run_typescript("console.log(require('tinything').version)", ["tinything@2.0.0"])
                .stdout
            )

    assert (await asyncio.to_thread(work)).strip() == "2.0.0"


@pytest.mark.requirement("mcp-1.04", "mcp-4.20")
async def test_tools_behind_the_server_install_packages_too(api: Api, sandbox: str) -> None:
    async with SandboxClient(str(api.base_url)) as client:
        call, tools = ToolContext(RemoteHost(client), McpConfig()), all_tools()
        request_body = {"sandbox_id": sandbox, "language": "java", "packages": ["com.example:tiny:2.0"]}
        done = await call_tool(tools["install_packages"], call, request_body)
        assert not done.error and "com.example:tiny 2.0" in done.metadata["installed"], done.text
        result = await call_tool(tools["run_java"], call, {"sandbox_id": sandbox, "code": TELL_JAVA})
        skip_if_missing(result.text)
        assert "2.0" in result.text and not result.error


# Invalid and hostile packages.


@pytest.mark.requirement("sandboxes-6.04")
async def test_what_cannot_be_installed_is_told(api: Api, sandbox: str) -> None:
    path = f"/api/v1/sandboxes/{sandbox}/code"
    body = {"code": "x", "language": "java", "packages": ["com.example:none:1.0"]}
    assert "com.example:none:1.0" in (await api.request_error("POST", path, 400, json=body))["message"]
    alone = await api.sandbox(network_mode="none")
    body = {"code": "x", "language": "go", "packages": ["example.com/tiny"]}
    assert "network" in (await api.request_error("POST", f"/api/v1/sandboxes/{alone}/code", 409, json=body))["message"]
    body = {"code": "x", "language": "cpp", "packages": ["libboost-dev"]}
    assert "operator" in (await api.request_error("POST", path, 400, json=body))["message"]


@pytest.mark.requirement("sandboxes-6.04")
@pytest.mark.parametrize("language", ["nodejs", "go", "rust", "java", "csharp"])
@pytest.mark.parametrize("package", ["--flag", "../x", "http://x/y", "a;id", "$(id)", "x" * 300])
async def test_names_that_are_none_are_refused(api: Api, sandbox: str, language: str, package: str) -> None:
    body = {"code": "x", "language": language, "packages": [package]}
    await api.request_error("POST", f"/api/v1/sandboxes/{sandbox}/code", 400, json=body)


@pytest.mark.requirement("sandboxes-6.04")
async def test_lists_that_are_too_long_are_refused(api: Api, sandbox: str) -> None:
    body = {"code": "x", "language": "go", "packages": ["example.com/tiny"] * 51}
    await api.request_error("POST", f"/api/v1/sandboxes/{sandbox}/code", 400, json=body)
