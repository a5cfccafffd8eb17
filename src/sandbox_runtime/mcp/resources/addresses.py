"""URIs of resources: file://<sandbox_id>/<path>, config://<section>, schema://<tool>, template://<language>."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, unquote

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.tools.arguments import resolve_file
from sandbox_runtime.mcp.tools.sandboxes import is_sandbox

SCHEMES = ("file", "config", "schema", "template")
_MAX_CHARACTERS = 8192


@dataclass(frozen=True, slots=True)
class Address:
    scheme: str
    path: str
    """Never empty."""
    sandbox: str = ""
    """Set for files only."""


def parse_uri(uri: str) -> Address:
    scheme, mark, rest = uri[:_MAX_CHARACTERS].partition("://")
    if not mark or scheme not in SCHEMES:
        known = ", ".join(f"{scheme}://…" for scheme in SCHEMES)
        raise InvalidRequest(f"{uri[:200]!r} is not a resource URI; use one of {known}")
    if scheme != "file":
        path = unquote(rest).strip("/")
        if not path:
            raise InvalidRequest(f"{uri[:200]!r} has no path after {scheme}://")
        return Address(scheme, path)
    sandbox, _, path = rest.lstrip("/").partition("/")
    if not is_sandbox(sandbox.lower()):
        raise InvalidRequest(f"{uri[:200]!r} contains no sandbox id; use file://<sandbox_id>/<path>")
    return Address("file", resolve_file(unquote(path)), sandbox.lower())


def file_uri(sandbox_id: str, name: str) -> str:
    return f"file://{sandbox_id}/{quote(name)}"
