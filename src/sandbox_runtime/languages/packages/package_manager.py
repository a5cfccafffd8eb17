"""What one package client is, and what it says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandbox_runtime.errors import InvalidRequest

HOME, WORKSPACE = "/home/sandbox", "/workspace"
MAX_PACKAGES = 50
MAX_CHARACTERS = 200
MAX_LISTED = 1000
LISTING_BYTES = 256 * 1024
_LOCK_WAIT_S = 600
_MISSING = 69
_LISTED = re.compile(r"([A-Za-z0-9@][A-Za-z0-9@:/._+~-]{0,213}) ([A-Za-z0-9][A-Za-z0-9.+_~-]{0,99})")
_ERROR_LINES, _MAX_ERROR_CHARACTERS = 20, 4000
_OFFLINE = (
    "name resolution",
    "Name or service not known",
    "Network is unreachable",
    "Could not resolve host",
    "EAI_AGAIN",
    "ENOTFOUND",
    "no such host",
    "server misbehaving",
    "connection refused",
    "Connection refused",
)


@dataclass(frozen=True, slots=True)
class PackageManager:
    """client: as it is called. program: what must be there for it, and needs: how it gets there. requirement: from what was asked
    for to what the client takes; raises InvalidRequest. install: the client's part of the script, which leaves
    $PKG/listing. needs_launch_script: programs find the packages only where they are started by a line of `starting`."""

    name: str
    client: str
    languages: tuple[str, ...]
    program: str
    needs: str
    parse_requirement: Callable[[str], str]
    install: Callable[[Sequence[str]], str]
    needs_launch_script: bool = True

    @property
    def folder(self) -> str:
        return f"{HOME}/.packages-{self.name}"

    @property
    def listing(self) -> str:
        """Below the workspace."""
        return f".packages/{self.name}"

    def parse_requirements(self, packages: Sequence[str]) -> list[str]:
        if not 1 <= len(packages) <= MAX_PACKAGES:
            raise InvalidRequest(f"1 to {MAX_PACKAGES} packages can be installed at once, not {len(packages)}")
        return [self.parse_requirement(check_package_name(text)) for text in packages]

    def script(self, requirements: Sequence[str]) -> str:
        """For bash. One at a time in each home: clients do not bear company."""
        missing = f"{self.client} is not installed where sandboxes find it: {self.needs}"
        return "\n".join(
            (
                f"command -v {self.program} >/dev/null || {{ echo {shlex.quote(missing)} >&2; exit {_MISSING}; }}",
                f"set -e\nPKG={self.folder}\nLISTING={WORKSPACE}/{self.listing}",
                f'mkdir -p "$PKG" {WORKSPACE}/.packages',
                f'exec 9>"$PKG/.lock"\nflock -w {_LOCK_WAIT_S} 9',
                self.install(requirements),
                'mv "$PKG/listing" "$LISTING"',
            )
        )


def check_package_name(text: str) -> str:
    plain = text.strip()
    if not 1 <= len(plain) <= MAX_CHARACTERS:
        raise InvalidRequest(f"a package is named with 1 to {MAX_CHARACTERS} characters, not {len(plain)}")
    if plain.startswith("-"):
        raise InvalidRequest(f"{plain[:60]!r} is an option; name packages alone")
    if "://" in plain or plain.startswith(("/", ".", "~")) or ".." in plain:
        raise InvalidRequest(f"{plain[:60]!r} is a path or an address; packages are installed by name")
    return plain


def split_version(text: str) -> tuple[str, str]:
    """name@1.0 or name==1.0: the name, and its version or nothing."""
    sign, start = ("==", 0) if "==" in text else ("@", 1)  # the name of a scope begins with one
    at = text.find(sign, start)
    return (text, "") if at < 0 else (text[:at].strip(), text[at + len(sign) :].strip())


def match_requirement(text: str, pattern: re.Pattern[str], example: str) -> tuple[str, str]:
    """Name and version of what fits the pattern, written with an @ between them."""
    name, version = split_version(text)
    if (text.endswith(("@", "=")) and not version) or not pattern.fullmatch(f"{name}@{version}" if version else name):
        raise InvalidRequest(f"{text[:60]!r} is no package here: write it as {example}")
    return name, version


def parse_listing(content: bytes) -> tuple[str, ...]:
    """What a listing says is there. It is a claim of the box: bounded, and lines that make no sense are left out."""
    lines = content[:LISTING_BYTES].decode(errors="replace").splitlines()
    found = (_LISTED.fullmatch(line.strip()) for line in lines)
    return tuple(f"{item[1]} {item[2]}" for item in found if item)[:MAX_LISTED]


def install_error(stdout: str, stderr: str) -> str:
    """Why a client failed, in its own words."""
    message = "\n".join((stderr.strip() or stdout.strip()).splitlines()[-_ERROR_LINES:])[-_MAX_ERROR_CHARACTERS:]
    if any(sign in message for sign in _OFFLINE):
        return f"the registry of packages cannot be reached: {message}"
    return f"the packages could not be installed: {message}" if message else "the packages could not be installed"
