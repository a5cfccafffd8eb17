"""Objects of other owners look exactly like missing ones, in every dialect."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.api.control_plane.clients import TEMPLATE
from tests.api.keys import new_key
from tests.api.servers import RunningServer, listening

from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

MISSING = {
    "session_id": "sess_20260101_00000000",
    "sandbox_id": "sess_20260101_00000000",
    "execution_id": "exec_20260101_00000000",
    "context_id": "ctx_00000000",
    "container_id": "sandbox-sess_20260101_00000000",
    "batch_id": "batch_00000000",
    "terminal_id": "term_00000000",
    "request_id": "req_00000000",
}
NAMED = re.compile(r"\{([a-z_]+)(?::path)?\}")
VOLATILE = re.compile(r'"(request_id|timestamp|trace_id)":\s*"[^"]*"')
BODIES: list[dict[str, Any]] = [
    {},
    {"code": "1", "language": "python", "command": "true", "content": "x", "filename": "f", "name": "n", "handler_code": "x"},
]
SHARED_BY_ALL = ("/api/v1/templates/", "/api/v1/internal/", "/internal/", "/api/v1/signed-files/", "/v1/languages/")
MAKES_WHAT_IS_MISSING = "/workspace/se/"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")), require_keys=True, check_languages=False, log_level="error"
    )
    async with listening(settings, sessions=True) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ann(server: RunningServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=60, headers=await new_key(server.platform, "ann")) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bob(server: RunningServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=60, headers=await new_key(server.platform, "bob")) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hers(ann: httpx.AsyncClient) -> dict[str, str]:
    """Return the ids of ann's objects."""
    session = (await ann.post("/api/v1/sessions", json={"template_id": TEMPLATE})).json()["id"]
    run = {"code": "open('secret.txt', 'w').write('x')", "language": "python"}
    execution = (await ann.post(f"/api/v1/executions/sessions/{session}/execute-sync", json=run)).json()["id"]
    context = (await ann.post(f"/api/v1/sessions/{session}/contexts")).json()["id"]
    ids = {"session_id": session, "sandbox_id": session, "execution_id": execution, "context_id": context}
    return {**ids, "container_id": f"sandbox-{session}"}


def filled(path: str, ids: dict[str, str]) -> str:
    return NAMED.sub(lambda match: ids.get(match[1]) or MISSING.get(match[1], "secret.txt"), path)


def plain(text: str, ids: dict[str, str]) -> str:
    """Return a response without what differs between any two requests, and without the ids that were sent."""
    for name, value in sorted((MISSING | ids).items(), key=lambda item: -len(item[1])):
        text = text.replace(value, f"<{'session_id' if name == 'sandbox_id' else name}>")
    return VOLATILE.sub("", text)


async def ask(client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any], ids: dict[str, str]) -> tuple[int, str]:
    options = {} if method in ("GET", "HEAD", "DELETE") else {"json": body}
    answer = await client.request(method, filled(path, ids), params={"sid": ids["session_id"], "path": "secret.txt"}, **options)
    return answer.status_code, plain(answer.text, ids)


async def test_what_is_somebody_else_s_is_answered_as_what_is_missing(
    ann: httpx.AsyncClient, bob: httpx.AsyncClient, hers: dict[str, str]
) -> None:
    described = (await ann.get("/openapi.json")).json()["paths"]
    paths = [path for path in described if NAMED.search(path) and set(NAMED.findall(path)) & set(MISSING)]
    looked = [path for path in paths if not path.startswith((*SHARED_BY_ALL, MAKES_WHAT_IS_MISSING))]
    tells, not_found = [], 0
    for path in looked:
        for method in described[path]:
            for body in BODIES:
                foreign = await ask(bob, method.upper(), path, body, hers)
                missing = await ask(bob, method.upper(), path, body, MISSING)
                not_found += foreign[0] == 404
                if foreign != missing or foreign[0] < 400:
                    tells.append((method, path, foreign, missing))
    assert not tells, "\n".join(map(str, tells))
    assert not_found > len(looked)


async def test_a_workspace_of_somebody_else_is_not_found_in_every_verb(
    ann: httpx.AsyncClient, bob: httpx.AsyncClient, hers: dict[str, str]
) -> None:
    """Return all routes but those that need a document server, which is not configured here."""
    described = (await ann.get("/openapi.json")).json()["paths"]
    ours = [path for path in described if path.startswith(MAKES_WHAT_IS_MISSING) and "{session_id}" in path]
    paths = [path for path in ours if "efast" not in path]
    assert len(paths) > 8
    for path in paths:
        for method in described[path]:
            if "upload" in path:
                answer = await bob.post(filled(path, hers), files={"file": ("f", b"x")})
                status, text = answer.status_code, answer.text
            else:
                body = {"command": "true"} if "/execute/" in path else BODIES[1]
                status, text = await ask(bob, method.upper(), path, body, hers)
            assert status == 404, (method, path, status, text)
            assert "somebody" not in text and "owner" not in text and "exists" not in text, (path, text)


async def test_who_deletes_what_is_missing_reads_the_same_as_who_deletes_what_is_foreign(
    bob: httpx.AsyncClient, hers: dict[str, str]
) -> None:
    path = "/workspace/se/session/{session_id}"
    foreign, missing = [await ask(bob, "DELETE", path, {}, ids) for ids in (hers, MISSING)]
    assert foreign == missing and foreign[0] == 404


async def test_a_name_that_is_taken_tells_not_by_whom(bob: httpx.AsyncClient, hers: dict[str, str]) -> None:
    """Sessions whose ids callers choose."""
    for name in ("id", "session_id"):
        answer = await bob.post("/api/v1/sessions", json={"template_id": TEMPLATE, name: hers["session_id"]})
        assert answer.status_code in (201, 404, 409, 422) and "ann" not in answer.text
