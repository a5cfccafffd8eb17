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
    """sandbox: of files alone. path: never empty."""

    scheme: str
    path: str
    sandbox: str = ""


def parse_uri(uri: str) -> Address:
    scheme, mark, rest = uri[:_MAX_CHARACTERS].partition("://")
    if not mark or scheme not in SCHEMES:
        raise InvalidRequest(f"resources have addresses like {', '.join(f'{one}://…' for one in SCHEMES)}; {uri[:200]!r} has not")
    if scheme != "file":
        path = unquote(rest).strip("/")
        if not path:
            raise InvalidRequest(f"{uri[:200]!r} names nothing: a path is missing after {scheme}://")
        return Address(scheme, path)
    sandbox, _, path = rest.lstrip("/").partition("/")
    if not is_sandbox(sandbox.lower()):
        raise InvalidRequest(f"files are at file://<sandbox_id>/<path>; {uri[:200]!r} names no sandbox")
    return Address("file", resolve_file(unquote(path)), sandbox.lower())


def file_uri(sandbox_id: str, name: str) -> str:
    return f"file://{sandbox_id}/{quote(name)}"
