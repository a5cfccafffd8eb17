"""Routes of the pages. All are GET, and all pages are known when the server starts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import MappingProxyType

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sandbox_runtime.api.pages.documentation import Documentation, docs_folder
from sandbox_runtime.api.pages.security_headers import APP_POLICY, DOCUMENT_POLICY, PICTURE_POLICY, asset, page, script_policy

DOCS, PLAYGROUND = "/SandboxFusion", "/playground"
_HERE = Path(__file__).parent
_TYPES = MappingProxyType(
    {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"},
)
_SCRIPT = 'location.replace(location.pathname.replace(/[/]+$/, "") + "/SandboxFusion");'
_INDEX = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>sandbox-runtime</title><script>{_SCRIPT}</script></head>
<body><h1>sandbox-runtime</h1>
<p>Runs untrusted code. See <a href="SandboxFusion/">the documentation</a>, <a href="playground/">the playground</a>,
<a href="docs">the routes</a>, <a href="health">health</a> and <a href="metrics">metrics</a>.</p></body></html>
"""


def is_page(method: str, path: str) -> bool:
    """Whether the request is for a page, which needs no key."""
    return method in ("GET", "HEAD") and (path == "/" or path.startswith((DOCS, PLAYGROUND)))


def router() -> APIRouter:
    pages = APIRouter()
    pages.add_route("/", index, include_in_schema=False)
    for address in (DOCS, PLAYGROUND):
        pages.add_route(address, _redirect_to_folder, include_in_schema=False)
    pictures = {f"pictures/{path.name}": path.read_bytes() for path in sorted((docs_folder() / "pictures").glob("*.svg"))}
    document = partial(_document, Documentation(docs_folder()), pictures)
    pages.add_route(f"{DOCS}/{{name:path}}", document, include_in_schema=False)
    files = {path.name: path.read_bytes() for path in sorted((_HERE / "playground").iterdir()) if path.suffix in _TYPES}
    pages.add_route(f"{PLAYGROUND}/{{name:path}}", partial(_playground, files), include_in_schema=False)
    return pages


async def index(request: Request) -> Response:
    return page(_INDEX, script_policy(_SCRIPT))


async def _redirect_to_folder(request: Request) -> Response:
    """The target is relative, so it also works behind a proxy with a path prefix."""
    return RedirectResponse(f"{request.url.path.rpartition('/')[2]}/", 307)


async def _document(documentation: Documentation, pictures: dict[str, bytes], request: Request) -> Response:
    name = request.path_params["name"]
    if name == "docs.css":
        return asset((_HERE / "docs.css").read_bytes(), "text/css", DOCUMENT_POLICY)
    if name in pictures:
        return asset(pictures[name], _TYPES[".svg"], PICTURE_POLICY)
    html = documentation.find(name)
    return _not_found() if html is None else page(html, DOCUMENT_POLICY)


async def _playground(files: dict[str, bytes], request: Request) -> Response:
    name = request.path_params["name"] or "index.html"
    if name not in files:
        return _not_found()
    return asset(files[name], _TYPES[Path(name).suffix], APP_POLICY)


def _not_found() -> Response:
    return page("<!doctype html><title>Not found</title><p>This page does not exist.</p>", DOCUMENT_POLICY, 404)
