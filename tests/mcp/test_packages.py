"""Packages for a sandbox, from registries on this host: each language's own client installs them, in the sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client
from tests.mcp.conftest import held, stdio
from tests.mcp.results import figures, text
from tests.mcp.tiny_packages import Online, registries
from tests.sessions.package_index import address_for_boxes

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.network]

TELL_GO = 'package main\nimport ("fmt"; "example.com/tiny")\nfunc main() { fmt.Println(tiny.Version) }'
TELL_JAVA = """public class Told {
    static String in(String name) throws Exception { return new String(Told.class.getResourceAsStream(name).readAllBytes()); }
    public static void main(String[] words) throws Exception { System.out.println(in("/tiny.txt") + " " + in("/deep.txt")); }
}"""
CASES: dict[str, tuple[str, str, str, str, str]] = {
    # language: the older, the newer, the program, and what it prints with each.
    "python": ("tinything==1.0", "tinything>=2", "import tinything; print(tinything.version)", "1.0", "2.0"),
    "javascript": ("tinything@1.0.0", "tinything@^2.0", "console.log(require('tinything').version)", "1.0.0", "2.0.0"),
    "go": ("example.com/tiny@v1.0.0", "example.com/tiny", TELL_GO, "1.0", "2.0"),
    "rust": ("tinything==1.0.0", "tinything[loud]@2", 'println!("{}", tinything::version());', "1.0", "2.0!"),
    "java": ("com.example:tiny:1.0", "com.example:tiny", TELL_JAVA, "1.0 3.0", "2.0 3.0"),
}
MISSING = {
    "python": "no-such-thing",
    "javascript": "no-such-thing",
    "go": "example.com/none",
    "rust": "nosuchthing",
    "java": "com.example:none:1.0",
    "csharp": "NoSuchThing",
}


@pytest.fixture(scope="module")
def online() -> Iterator[Online]:
    with registries(address_for_boxes()) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(workspace: Path, online: Online) -> AsyncIterator[Client]:
    async with held(Client(stdio(workspace, "--tools", "all", **online.server))) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(client: Client, online: Online) -> str:
    wishes = {"network_mode": "bridge", "environment": online.sandbox, "memory_limit": "1G"}
    return str(figures(await client.call_tool("create_sandbox", wishes))["sandbox_id"])


async def printed(client: Client, sandbox: str, language: str, code: str, **more: Any) -> str:
    ran = await client.call_tool(f"run_{language}", {"sandbox_id": sandbox, "code": code, "timeout": 300, **more})
    skip_where_missing(text(ran))
    assert not ran.is_error, text(ran)
    return str(figures(ran)["stdout"]).strip()


async def installed(client: Client, sandbox: str, language: str, *packages: str) -> list[str]:
    asked = {"sandbox_id": sandbox, "packages": list(packages), "language": language}
    done = await client.call_tool("install_packages", asked)
    skip_where_missing(text(done))
    assert not done.is_error, text(done)
    return list(figures(done)["installed"])


async def refused(client: Client, sandbox: str, language: str, *packages: str) -> str:
    asked = {"sandbox_id": sandbox, "packages": list(packages), "language": language}
    done = await client.call_tool("install_packages", asked)
    skip_where_missing(text(done))
    assert done.is_error and done.meta is not None, text(done)
    return f"{done.meta['metadata']['error_code']} {text(done)}"


def skip_where_missing(told: str) -> None:
    if any(
        sign in told for sign in ("is not installed", "does not work on this host", "NOT_AVAILABLE", "javac: command not found")
    ):
        pytest.skip(told)


@pytest.mark.requirement("mcp-4.14", "mcp-4.18", "mcp-4.20")
@pytest.mark.parametrize("language", CASES)
async def test_packages_are_installed_and_found_by_what_runs_later(client: Client, sandbox: str, language: str) -> None:
    older, newer, code, with_older, with_newer = CASES[language]
    assert any("1.0" in one for one in await installed(client, sandbox, language, older))
    assert await printed(client, sandbox, language, code) == with_older
    assert await printed(client, sandbox, language, code, packages=[newer]) == with_newer
    missing = await refused(client, sandbox, language, MISSING[language])
    assert "PACKAGE_INSTALL_FAILED" in missing and MISSING[language].split(":")[0].split("/")[0] in missing
    assert await printed(client, sandbox, language, code) == with_newer


@pytest.mark.requirement("mcp-4.20")
async def test_typescript_finds_packages_of_npm(client: Client, sandbox: str) -> None:
    await installed(client, sandbox, "typescript", "tinything@2.0.0")
    code = "const found: { version: string } = require('tinything'); console.log(found.version)"
    assert await printed(client, sandbox, "typescript", code) == "2.0.0"


@pytest.mark.requirement("mcp-4.20")
async def test_csharp_finds_packages_of_nuget_and_what_they_need(client: Client, sandbox: str) -> None:
    code = "Console.WriteLine(Newtonsoft.Json.JsonConvert.SerializeObject(new[] { 1, 2 }));"
    assert await printed(client, sandbox, "csharp", code, packages=["NeedsTiny@2.0.0"]) == "[1,2]"
    assert "no build for .NET Core 3.1" in await refused(client, sandbox, "csharp", "TooNew")
    assert "the registry has no package NoSuchThing" in await refused(client, sandbox, "csharp", "NoSuchThing")


@pytest.mark.requirement("mcp-4.20")
async def test_a_copy_of_a_sandbox_has_its_packages(client: Client, sandbox: str) -> None:
    await installed(client, sandbox, "java", "com.example:tiny:1.0")
    copy = figures(await client.call_tool("fork_sandbox", {"sandbox_id": sandbox}))["sandbox_id"]
    assert await printed(client, copy, "java", TELL_JAVA) == "1.0 3.0"
    await client.call_tool("terminate_sandbox", {"sandbox_id": copy})


@pytest.mark.requirement("mcp-4.20")
@pytest.mark.parametrize("language", ["cpp", "shell"])
async def test_packages_of_the_system_are_refused_with_advice(client: Client, sandbox: str, language: str) -> None:
    told = await refused(client, sandbox, language, "curl")
    assert "PACKAGE_INSTALL_FAILED" in told and "operator" in told and "files" in told


@pytest.mark.requirement("mcp-4.20")
@pytest.mark.parametrize("language", ["python", "javascript", "go", "rust", "java", "csharp"])
async def test_a_sandbox_without_a_network_installs_nothing_and_says_why(client: Client, language: str) -> None:
    alone = figures(await client.call_tool("create_sandbox", {"network_mode": "none"}))["sandbox_id"]
    told = await refused(client, alone, language, CASES.get(language, ("TinyThing",))[0])
    assert "PACKAGE_INSTALL_FAILED" in told and "network_mode bridge" in told
    await client.call_tool("terminate_sandbox", {"sandbox_id": alone})


@pytest.mark.requirement("mcp-3.05", "mcp-4.20")
async def test_what_an_installation_says_is_told_while_it_goes_on(client: Client, sandbox: str, online: Online) -> None:
    """The registry gives the package out only when its line was heard."""

    async def hear(_progress: float, _total: float | None, message: str | None) -> None:
        if "downloading com.example:slow" in (message or ""):
            online.go_on.set()

    asked = {"sandbox_id": sandbox, "packages": ["com.example:slow:1.0"], "language": "java"}
    done = await client.call_tool("install_packages", asked, progress_callback=hear)
    assert not done.is_error and "com.example:slow 1.0" in figures(done)["installed"], text(done)
    assert online.go_on.is_set()


# Names and answers that mean harm.


@pytest.mark.requirement("mcp-4.12", "mcp-4.20")
@pytest.mark.parametrize("language", ["javascript", "go", "rust", "java", "csharp"])
@pytest.mark.parametrize(
    "name",
    ["--registry=http://x/", "-g", "../evil", "/etc/passwd", "https://x/y.tgz", "a; touch /workspace/hacked", "$(id)", "`id`",
     "a b", "a\nb", "file:/x", "github:a/b", "a@", "a@-x", "x" * 201],
)  # fmt: skip
async def test_names_that_are_none_are_refused_before_anything_runs(
    client: Client, sandbox: str, language: str, name: str
) -> None:
    told = await refused(client, sandbox, language, name)
    assert "INVALID_PARAMETERS" in told
    ran = await client.call_tool(f"run_{language}", {"sandbox_id": sandbox, "code": "x", "packages": [name]})
    assert ran.is_error and "INVALID_PARAMETERS" in text(ran)


@pytest.mark.requirement("mcp-4.12")
async def test_lists_that_are_too_long_or_empty_are_refused(client: Client, sandbox: str) -> None:
    for packages in ([], ["a"] * 51):
        assert "INVALID_PARAMETERS" in await refused(client, sandbox, "javascript", *packages)


@pytest.mark.requirement("mcp-4.20")
async def test_names_and_files_of_a_hostile_registry_stay_where_packages_are(client: Client, sandbox: str) -> None:
    assert "is no name" in await refused(client, sandbox, "java", "com.example:evil:1.0")
    assert "checksum" in await refused(client, sandbox, "java", "com.example:broken:1.0")
    assert "parents" in await refused(client, sandbox, "java", "com.example:endless:1.0")
    await installed(client, sandbox, "csharp", "Escaping")
    looked = await client.call_tool(
        "exec_command", {"sandbox_id": sandbox, "command": "find / -xdev -name 'x*.dll' -newer /etc/passwd"}
    )
    assert "x.dll" not in figures(looked)["stdout"]
