"""A new dialect is one folder and one line."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.api.servers import Client, serving

from sandbox_runtime.api import dialects
from sandbox_runtime.api.app import DIALECTS
from sandbox_runtime.api.dialect import path_pattern
from sandbox_runtime.settings import Settings

KEY = {"X-API-Key": "s3cret"}
ROUTER = '''
from fastapi import APIRouter, Request

from sandbox_runtime.api.dialect import Dialect

router = APIRouter(prefix="/echo")


@router.get("/open")
@router.get("/closed")
@router.get("/text")
@router.get("/raw/{name}")
async def text() -> str:
    """Return a long text."""
    return "long " * 1000


@router.post("/upload/{name}")
@router.post("/note")
async def length(request: Request) -> int:
    """Return the length of the body."""
    return len(await request.body())


dialect = Dialect(
    name="echo",
    routers=(router,),
    open_paths=("/echo/open",),
    upload_paths=("/echo/upload/{name}",),
    compressed_paths=("/echo/{path:path}",),
    uncompressed_paths=("/echo/raw/{name}",),
)
'''


@pytest_asyncio.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Client]:
    folder = tmp_path / "dialects" / "echo"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "router.py").write_text(ROUTER)
    monkeypatch.setattr(dialects, "__path__", [*dialects.__path__, str(folder.parent)])
    settings = Settings(
        state_dir=str(tmp_path / "state"),
        api_key="s3cret",
        max_request_bytes=1024,
        session_file_max_bytes=2_000_000,
        pool_size=0,
        started_pool_size=0,
        check_languages=False,
        log_level="error",
    )
    try:
        async with serving(settings, (*DIALECTS, "echo")) as opened:
            yield opened
    finally:
        for name in [name for name in sys.modules if name.startswith(f"{dialects.__name__}.echo")]:
            monkeypatch.delitem(sys.modules, name)


async def test_a_dialect_is_one_folder_and_one_line(client: Client) -> None:
    assert (await client.get("/echo/open")).status_code == 200
    assert (await client.get("/echo/closed")).status_code == 401
    body = b"x" * 1_500_000
    assert (await client.post("/echo/upload/a", content=body, headers=KEY)).json() == len(body)
    assert (await client.post("/echo/note", content=body, headers=KEY)).status_code == 413
    assert (await client.get("/echo/text", headers=KEY)).headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in (await client.get("/echo/raw/a", headers=KEY)).headers
    assert "/echo/note" in (await client.get("/openapi.json", headers=KEY)).json()["paths"]


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("/a", True),
        ("/a/", False),
        ("/b/1/files", True),
        ("/b/1/2/files", False),
        ("/b//files", False),
        ("/c/", True),
        ("/c/1/2", True),
        ("/c/1\n2", True),
        ("/c", False),
        ("/d.e", True),
        ("/dxe", False),
        ("/x/a", False),
    ],
)
def test_declared_paths_are_matched_as_routes_are(path: str, matches: bool) -> None:
    pattern = path_pattern(["/a", "/b/{id}/files", "/c/{rest:path}", "/d.e"])
    assert bool(pattern.match(path)) is matches


def test_no_declared_path_matches_nothing() -> None:
    assert not path_pattern([]).match("")
