"""The package clients that there are, by language."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from importlib import resources

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.languages.packages.package_manager import WORKSPACE, PackageManager, match_requirement

_VERSION = r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}"
_NPM = re.compile(rf"(@[a-z0-9][a-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*(@[\^~]?{_VERSION})?")
_GO = re.compile(rf"[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9][A-Za-z0-9._~-]*)*(@{_VERSION})?")
_CRATE = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,63}}(\[[a-z0-9_-]+(,[a-z0-9_-]+)*\])?(@[\^~=]?{_VERSION})?")
_MAVEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*){1,2}")
_NUGET = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]*(@{_VERSION})?")
_NO_CLIENT = {"cpp": "C++", "c": "C", "bash": "the shell", "sh": "the shell", "shell": "the shell", "zsh": "zsh", "fish": "fish"}

_NPM_LIST = """
const {readFileSync} = require("fs");
const read = (folder) => JSON.parse(readFileSync("/workspace/" + folder + "package.json", "utf8"));
for (const name of Object.keys(read("").dependencies || {})) console.log(name, read("node_modules/" + name + "/").version);
"""
_GO_LIST = r"""awk '$1 == "require" && $2 != "(" { print $2, $3 } /^\t/ { print $1, $2 }' go.mod"""
GO_SETUP = 'export GOMODCACHE="$PKG/mod" GOCACHE="$PKG/cache" GOFLAGS="-mod=mod -modcacherw -buildvcs=false" GOWORK=off'
CARGO_SETUP = 'export CARGO_HOME="$PKG/cargo" CARGO_TARGET_DIR="$PKG/target" CARGO_INCREMENTAL=0'
_MANIFEST = '[package]\nname = "main"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n'


def _with_version(name: str, version: str) -> str:
    return f"{name}@{version}" if version else name


def _words(requirements: Sequence[str]) -> str:
    return " ".join(shlex.quote(item) for item in requirements)


def _npm(text: str) -> str:
    return _with_version(*match_requirement(text, _NPM, "lodash, lodash@4.17.21 or @types/node@22"))


def _npm_install(requirements: Sequence[str]) -> str:
    """Into the workspace itself, where Node.js looks. By itself the client would try for minutes where there is no registry."""
    patience = "--fetch-retries=2 --fetch-retry-mintimeout=500 --fetch-retry-maxtimeout=2000"
    flags = f"--no-audit --no-fund --no-update-notifier --save --cache /tmp/.npm --prefix {WORKSPACE}"
    return f'npm install {flags} {patience} -- {_words(requirements)}\nnode -e {shlex.quote(_NPM_LIST)} >"$PKG/listing"'


def _go(text: str) -> str:
    return _with_version(*match_requirement(text, _GO, "example.com/module or example.com/module@v1.2.3"))


def _go_install(requirements: Sequence[str]) -> str:
    """What was built ahead for everybody is linked into a cache that can be written: what is built once is kept."""
    return "\n".join(
        (
            'if [ -d "$GOCACHE" ] && [ ! -d "$PKG/cache" ]; then cp -rs "$GOCACHE" "$PKG/cache"; fi',
            GO_SETUP,
            'mkdir -p "$PKG/module" "$PKG/cache"\ncd "$PKG/module"',
            "[ -f go.mod ] || go mod init sandbox.local/main",
            f"go get {_words(requirements)}",
            f'{_GO_LIST} >"$PKG/listing"',
        )
    )


def _crate(text: str) -> str:
    """As it is written here: name[features]@version."""
    name, version = match_requirement(text, _CRATE, "serde, serde@1.0 or serde[derive]@1.0")
    return _with_version(name, f"={version}" if "==" in text else version)


def _cargo_add(requirement: str) -> str:
    name, _, version = requirement.partition("@")
    plain, _, features = name.removesuffix("]").partition("[")
    more = f" --features {shlex.quote(features)}" if features else ""
    return f"cargo add {shlex.quote(_with_version(plain, version))}{more}"


def _cargo_install(requirements: Sequence[str]) -> str:
    """Built at once: a program's own time is for the program. What fails leaves the manifest as it was before."""
    mirror = '[source.crates-io]\\nreplace-with = "mirror"\\n\\n[source.mirror]\\nregistry = "sparse+%s/"\\n'
    return "\n".join(
        (
            CARGO_SETUP,
            'mkdir -p "$CARGO_HOME" "$PKG/project/src"\ncd "$PKG/project"',
            'index="${CRATES_INDEX#sparse+}"',
            f'if [ -n "$index" ]; then printf \'{mirror}\' "${{index%/}}" >"$CARGO_HOME/config.toml"; fi',
            f"[ -f Cargo.toml ] || printf %s {shlex.quote(_MANIFEST)} >Cargo.toml",
            'echo "fn main() {}" >src/main.rs\ncp Cargo.toml "$PKG/before"',
            'trap \'cp "$PKG/before" "$PKG/project/Cargo.toml"\' EXIT',
            *(_cargo_add(item) for item in requirements),
            "cargo build",
            'cargo tree --offline --depth 1 --prefix none | awk \'NR > 1 { sub(/^v/, "", $2); print $1, $2 }\' >"$PKG/listing"',
            "trap - EXIT",
        )
    )


def _maven(text: str) -> str:
    name, _ = match_requirement(text, _MAVEN, "group:artifact:version, such as org.json:json:20240303")
    return name


def _maven_install(requirements: Sequence[str]) -> str:
    """By a resolver of our own: Maven itself would have to fetch its plugins first, and reads settings of the host."""
    return _python_resolver("maven", '"$MAVEN_REPOSITORY"', requirements)


def _nuget(text: str) -> str:
    return _with_version(*match_requirement(text, _NUGET, "Newtonsoft.Json or Newtonsoft.Json@13.0.3"))


def _nuget_install(requirements: Sequence[str]) -> str:
    references = 'export REFERENCES="$(dirname "$(command -v node)")/../../../csharp/references.rsp"\n'
    return references + _python_resolver("nuget", '"$NUGET_SOURCE"', requirements)


def _python_resolver(program: str, registry: str, requirements: Sequence[str]) -> str:
    """The programs are written into the box, where they are a package of their own."""
    place = "/tmp/resolver/inside"
    folder = resources.files("sandbox_runtime.languages.packages.inside")
    parts = ("__init__", "registry_client", program)
    written = [f"printf %s {shlex.quote(folder.joinpath(f'{item}.py').read_text())} >{place}/{item}.py" for item in parts]
    start = f'PYTHONPATH=/tmp/resolver python3 -m inside.{program} {registry} "$PKG" {_words(requirements)}'
    return "\n".join((f"mkdir -p {place}", *written, start))


PACKAGE_MANAGERS = (
    PackageManager(
        "node",
        "npm",
        ("javascript", "typescript", "nodejs"),
        "npm",
        "sandbox languages install nodejs",
        _npm,
        _npm_install,
        False,
    ),
    PackageManager("go", "go get", ("go",), "go", "sandbox languages install go", _go, _go_install),
    PackageManager("rust", "cargo", ("rust",), "cargo", "apt install cargo-web, or cargo", _crate, _cargo_install),
    PackageManager("java", "the resolver of Maven's packages", ("java",), "python3", "python3", _maven, _maven_install),
    PackageManager("csharp", "the resolver of NuGet's packages", ("csharp",), "python3", "python3", _nuget, _nuget_install),
)


def find_package_manager(language: str) -> PackageManager:
    """Raises Unavailable where packages of a language cannot be installed into a box."""
    found = next((kit for kit in PACKAGE_MANAGERS if language in kit.languages), None)
    if found is None:
        raise Unavailable(_unavailable_text(language))
    return found


def _unavailable_text(language: str) -> str:
    if language in _NO_CLIENT:
        return (
            f"packages of {_NO_CLIENT[language]} are those of the operating system, which only the operator of the host can "
            "install (apt-get); bring sources and headers as files instead, or use what is in the sandbox already"
        )
    return f"packages of {language[:40]} cannot be installed here: bring them as files, or use what is in the sandbox already"
