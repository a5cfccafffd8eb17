"""The packages that the tests install: a tiny one of each language in two versions, and some that mean harm."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mcp.registries import Files, crates, go_module, maven_artifact, nuget_package, served
from tests.sessions.package_index import index, registry, tarball, wheel

from sandbox_runtime.settings import Settings

WHEELS = {f"tinything-{one}-py3-none-any.whl": wheel("tinything", one, f"version = {one!r}") for one in ("1.0", "2.0")}
NPM = {"tinything": {one: tarball("tinything", one, f"exports.version = '{one}'") for one in ("1.0.0", "2.0.0")}}
RUST = 'pub fn version() -> &\'static str { if cfg!(feature = "loud") { "%s!" } else { "%s" } }'
DEEP = (
    "<properties><deep.version>3.0</deep.version></properties><dependencies>"
    "<dependency><groupId>com.example</groupId><artifactId>deep</artifactId><version>${deep.version}</version></dependency>"
    "<dependency><groupId>com.example</groupId><artifactId>only-for-tests</artifactId><version>1</version><scope>test</scope>"
    "</dependency></dependencies>"
)


@dataclass(frozen=True)
class Online:
    """Variables of a server whose sandboxes reach the registries, and of a sandbox that uses them."""

    server: dict[str, str]
    sandbox: dict[str, str]
    go_on: threading.Event
    """com.example:slow is given out when this is set."""


@contextmanager
def registries(address: str) -> Iterator[Online]:
    rust = {one: RUST.replace("%s", one[:3]) for one in ("1.0.0", "2.0.0")}
    go_on = threading.Event()
    with ExitStack() as stack:
        stack.callback(go_on.set)
        sandbox = {
            "npm_config_registry": stack.enter_context(registry(address, NPM)),
            "GOPROXY": stack.enter_context(served(address, go_files())),
            "GOSUMDB": "off",
            "CRATES_INDEX": stack.enter_context(served(address, crates("tinything", rust))),
            "MAVEN_REPOSITORY": stack.enter_context(served(address, java_files(), "com/example/slow/1.0/slow-1.0.jar", go_on)),
            "NUGET_SOURCE": stack.enter_context(served(address, csharp_files())),
        }
        url = stack.enter_context(index(address, WHEELS))
        server = {"SANDBOX_ALLOW_NETWORK": "true", "SANDBOX_NETWORK_ALLOW": address, "SANDBOX_SESSION_PACKAGE_INDEX": url}
        yield Online(server, sandbox, go_on)


def go_files() -> Files:
    both = [go_module("example.com/tiny", f"v{one}.0", f'package tiny\n\nconst Version = "{one}"\n') for one in ("1.0", "1.9")]
    newest = go_module("example.com/tiny", "v1.9.9", 'package tiny\n\nconst Version = "2.0"\n')
    return both[0] | both[1] | newest | {"example.com/tiny/@v/list": b"v1.0.0\nv1.9.0\nv1.9.9\n"}


def java_files() -> Files:
    tiny = [maven_artifact("com.example", "tiny", one, {"tiny.txt": one.encode()}, DEEP) for one in ("1.0", "2.0")]
    hostile = maven_artifact("com.example", "evil", "1.0", {}, DEEP.replace("deep</artifactId>", "../../../tmp/x</artifactId>"))
    broken = maven_artifact("com.example", "broken", "1.0", {"a": b"b"}) | {
        "com/example/broken/1.0/broken-1.0.jar.sha1": b"0" * 40
    }
    slow = maven_artifact("com.example", "slow", "1.0", {"slow.txt": b""})
    endless = maven_artifact("com.example", "endless", "1.0", {}, _parent("endless"))
    return (
        tiny[0] | tiny[1] | maven_artifact("com.example", "deep", "3.0", {"deep.txt": b"3.0"}) | hostile | broken | endless | slow
    )


def _parent(name: str) -> str:
    return f"<parent><groupId>com.example</groupId><artifactId>{name}</artifactId><version>1.0</version></parent>"


def csharp_files() -> Files:
    """A library that .NET itself brings along is taken for one of a package."""
    found = next(Path(Settings().toolchains_dir, "csharp").rglob("Newtonsoft.Json.dll"), None)
    inside = {"lib/net45/Wrong.dll": b"", "lib/netstandard2.0/Newtonsoft.Json.dll": found.read_bytes() if found else b""}
    needs = (
        '<dependencies><group targetFramework=".NETStandard2.0"><dependency id="TinyThing" version="1.0"/></group></dependencies>'
    )
    return (
        nuget_package("TinyThing", "1.0.0", inside)
        | nuget_package("NeedsTiny", "2.0.0", {}, needs)
        | nuget_package("TooNew", "1.0.0", {"lib/net9.0/TooNew.dll": b""})
        | nuget_package("Escaping", "1.0.0", {"lib/netstandard2.0/../../../../tmp/x.dll": b"", "lib/netstandard2.0/a/b.dll": b""})
    )
