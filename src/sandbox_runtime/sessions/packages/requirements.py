"""Requirements and command lines of the package clients pip and npm. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Dependency, InstalledDependency
from sandbox_runtime.sessions.registry import PACKAGES_FOLDER

MAX_NAME_CHARACTERS = 100
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_SCOPED = re.compile(r"@[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*")
_NAME_WITH_VERSION = re.compile(r"([A-Za-z][A-Za-z_-]*?)-?(\d+(?:\.\d+)+)")
_OPERATORS = ("==", ">=", "<=", "!=", "~=", "===", ">", "<")
_VERSION = re.compile(
    r"(?:==|>=|<=|!=|~=|===|>|<)?\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*(?:\s*,\s*(?:==|>=|<=|!=|~=|>|<)\s*[A-Za-z0-9.*+!_-]+)*"
)
_NPM_VERSION = re.compile(r"[\^~]?[A-Za-z0-9][A-Za-z0-9.+_-]*")
PYTHON, NODE = "python", "node"


def check_name(name: str, kind: str) -> None:
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS:
        raise InvalidRequest(f"a package name has 1 to {MAX_NAME_CHARACTERS} characters, not {len(name)}")
    if ".." in name or "://" in name or name.startswith("/"):
        raise InvalidRequest(f"{name!r} is a path or URL; packages are installed by name")
    if kind == NODE and _SCOPED.fullmatch(name):
        return
    if not _NAME.fullmatch(name):
        raise InvalidRequest(f"a package name consists of letters, digits and . _ -, not {name!r}")
    if match := _NAME_WITH_VERSION.fullmatch(name):
        message = f"{name!r} contains a version: set the name to {match[1]!r} and the version to {match[2]!r}"
        raise InvalidRequest(message)


def to_requirement(dependency: Dependency, kind: str) -> str:
    """Return the requirement for the package client. A version without an operator is exact. Raises InvalidRequest."""
    check_name(dependency.name, kind)
    version = dependency.version.strip()
    if not version:
        return dependency.name
    if kind == NODE:
        if not _NPM_VERSION.fullmatch(version.removeprefix("==")):
            raise InvalidRequest(f"{version!r} is not a version of {dependency.name}: use one such as 4.17.21")
        return f"{dependency.name}@{version.removeprefix('==')}"
    if not _VERSION.fullmatch(version):
        raise InvalidRequest(f"{version!r} is not a version of {dependency.name}: use one such as 2.3.3 or >=2.0,<3")
    return f"{dependency.name}{version if version.startswith(_OPERATORS) else f'=={version}'}"


def check_index(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or any(c.isspace() for c in url):
        raise InvalidRequest(f"a package index is an http or https URL, not {url[:100]!r}")


def pip_install(python: str, requirements: Sequence[str], index_url: str) -> tuple[str, ...]:
    """Source distributions are allowed: their build code runs in a box like everything else."""
    index = ("--index-url", index_url, *_trusted_host(index_url)) if index_url else ()
    flags = ("--no-input", "--disable-pip-version-check", "--no-cache-dir", "--progress-bar=off", "--upgrade")
    return (python, "-m", "pip", "install", *flags, *index, "--target", PACKAGES_FOLDER, "--", *requirements)


def _trusted_host(index_url: str) -> tuple[str, ...]:
    """Trust an index without encryption: the client refuses it otherwise, and somebody configured it on purpose."""
    parts = urlsplit(index_url)
    return ("--trusted-host", parts.hostname or "") if parts.scheme == "http" else ()


def pip_list(python: str) -> tuple[str, ...]:
    return (python, "-m", "pip", "list", "--disable-pip-version-check", "--path", PACKAGES_FOLDER, "--format=json")


def npm_install(node_bin: str, requirements: Sequence[str], index_url: str) -> tuple[str, ...]:
    """Limit retries, which otherwise take over a minute if the registry is unreachable, and keep the cache out of the session."""
    registry = (f"--registry={index_url}",) if index_url else ()
    patience = ("--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000")
    flags = ("--no-audit", "--no-fund", "--no-update-notifier", "--save", "--cache", "/tmp/.npm", "--prefix", "/workspace")
    return (*_npm(node_bin), "install", *flags, *patience, *registry, "--", *requirements)


def npm_list(node_bin: str) -> tuple[str, ...]:
    return (*_npm(node_bin), "ls", "--json", "--depth=0", "--prefix", "/workspace")


def _npm(node_bin: str) -> tuple[str, ...]:
    """Run the script itself: the npm command beside node is a link that some installations lack."""
    return f"{node_bin}/node", f"{node_bin.removesuffix('/bin')}/lib/node_modules/npm/bin/npm-cli.js"


def parse_pip_list(text: str, now_ms: int) -> tuple[InstalledDependency, ...]:
    """Parse the client's output. It comes from a box and is not trusted: it is bounded, and invalid entries are skipped."""
    parsed = _parse_json(text)
    rows = parsed if isinstance(parsed, list) else []
    pairs = [(row.get("name"), row.get("version")) for row in rows if isinstance(row, dict)]
    return _to_installed(pairs, PACKAGES_FOLDER, now_ms)


def parse_npm_list(text: str, now_ms: int) -> tuple[InstalledDependency, ...]:
    parsed = _parse_json(text)
    tree = parsed.get("dependencies") if isinstance(parsed, dict) else None
    rows = tree.items() if isinstance(tree, dict) else ()
    return _to_installed(
        [(name, row.get("version")) for name, row in rows if isinstance(row, dict)], "/workspace/node_modules", now_ms
    )


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _to_installed(pairs: Sequence[tuple[object, object]], location: str, now_ms: int) -> tuple[InstalledDependency, ...]:
    packages = []
    for name, version in pairs[:1000]:
        if isinstance(name, str) and isinstance(version, str) and 1 <= len(name) <= 214 and len(version) <= 100:
            packages.append(InstalledDependency(name, version, location, now_ms))
    return tuple(packages)
