"""The pages by their addresses. All are GET, and all of them are known when the server starts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import MappingProxyType

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sandbox_runtime.api.pages.documentation import Documentation, docs_folder
from sandbox_runtime.api.pages.security_headers import READING, WORKING, asset, leading_on, page

DOCS, PLAYGROUND = "/SandboxFusion", "/playground"
_HERE = Path(__file__).parent
_TYPES = MappingProxyType(
    {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"},
)
_SCRIPT = 'location.replace(location.pathname.replace(/[/]+$/, "") + "/SandboxFusion");'
_FRONT = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>sandbox-runtime</title><script>{_SCRIPT}</script></head>
<body><h1>sandbox-runtime</h1>
<p>Runs code that nobody trusts. See <a href="SandboxFusion/">the documentation</a>, <a href="playground/">the playground</a>,
<a href="docs">the routes</a>, <a href="health">health</a> and <a href="metrics">metrics</a>.</p></body></html>
"""


def is_page(method: str, path: str) -> bool:
    """Whether a request is for one of these pages, which need no key."""
    return method in ("GET", "HEAD") and (path == "/" or path.startswith((DOCS, PLAYGROUND)))


def router() -> APIRouter:
    made = APIRouter()
    made.add_route("/", front, include_in_schema=False)
    for address in (DOCS, PLAYGROUND):
        made.add_route(address, _with_slash, include_in_schema=False)
    made.add_route(f"{DOCS}/{{name:path}}", partial(_document, Documentation(docs_folder())), include_in_schema=False)
    files = {path.name: path.read_bytes() for path in sorted((_HERE / "playground").iterdir()) if path.suffix in _TYPES}
    made.add_route(f"{PLAYGROUND}/{{name:path}}", partial(_playground, files), include_in_schema=False)
    return made


async def front(request: Request) -> Response:
    return page(_FRONT, leading_on(_SCRIPT))


async def _with_slash(request: Request) -> Response:
    """Relative, so that it holds behind a prefix that the server does not know of."""
    return RedirectResponse(f"{request.url.path.rpartition('/')[2]}/", 307)


async def _document(documentation: Documentation, request: Request) -> Response:
    name = request.path_params["name"]
    if name == "docs.css":
        return asset((_HERE / "docs.css").read_bytes(), "text/css", READING)
    found = documentation.find(name)
    if found is None:
        return page("<!doctype html><title>Not found</title><p>There is no such page.</p>", READING, 404)
    return page(found, READING)


async def _playground(files: dict[str, bytes], request: Request) -> Response:
    name = request.path_params["name"] or "index.html"
    if name not in files:
        return page("<!doctype html><title>Not found</title><p>There is no such page.</p>", READING, 404)
    return asset(files[name], _TYPES[Path(name).suffix], WORKING)
