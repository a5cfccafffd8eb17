"""Hostile clients: strange names, sessions of others, bodies that are too large, and clients that stall or disconnect."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
import pytest_asyncio
from tests.api.servers import RunningServer, listening
from tests.api.workspace.conftest import PREFIX, Workspace, open_workspace, settings_in

from sandbox_runtime.api import file_response
from sandbox_runtime.model import ApiKey
from sandbox_runtime.model.access import hash_key
from sandbox_runtime.store import open_store

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("name", ["%2e%2e", "a%2fb", "a%20b", "%00", "-rf", ".hidden", "a%0d%0aX-Evil:%201", "x" * 300, "é"])
@pytest.mark.parametrize("verb", ["session", "execute"])
async def test_a_session_has_a_plain_name(workspace: Workspace, verb: str, name: str) -> None:
    body = {} if verb == "session" else {"command": "true"}
    answer = await workspace.post(f"{PREFIX}/{verb}/{name}", json=body)
    assert answer.status_code in (400, 404, 405), answer.text
    assert "x-evil" not in answer.headers


async def test_no_header_is_made_from_a_file_name(workspace: Workspace) -> None:
    await workspace.script("headers", "open('a\"; filename=b.txt', 'w').write('x'); open('a\\r\\nX-Evil: 1', 'w')")
    answer = await workspace.get(f"{PREFIX}/download/headers/a%22;%20filename=b.txt")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''a%22%3B%20filename%3Db.txt"
    answer = await workspace.get(f"{PREFIX}/download/headers/a%0d%0aX-Evil:%201")
    assert "x-evil" not in answer.headers


async def test_links_that_a_guest_made_lead_nowhere(workspace: Workspace) -> None:
    await workspace.execute("links", command="ln -s /etc/passwd p; ln -s / r; mkdir d; ln -s ../../../etc d/e")
    for path in ("p", "r/etc/passwd", "d/e/passwd"):
        assert (await workspace.get(f"{PREFIX}/download/links/{path}")).status_code == 400
        assert (await workspace.get(f"{PREFIX}/readfile/links/{path}")).status_code == 400
    await workspace.request_json("POST", "/create/links", json={"content": "mine", "filename": "p"})
    assert (await workspace.request_json("GET", "/files/links"))["files"][1]["type"] == "file"


@pytest.mark.parametrize("verb", ["execute_code", "execute", "create", "session"])
async def test_a_body_that_is_too_large_is_refused_whatever_the_session_is_called(workspace: Workspace, verb: str) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 50_000

    for name in ("upload", "files", "archive"):
        answer = await workspace.post(f"{PREFIX}/{verb}/{name}", content=b" " * 400_000)
        assert answer.status_code == 413
        answer = await workspace.post(f"{PREFIX}/{verb}/{name}", content=endless())
        assert answer.status_code == 413


async def test_a_file_that_is_too_large_leaves_nothing(workspace: Workspace) -> None:
    answer = await workspace.post(f"{PREFIX}/upload/large", files={"file": ("f", b"x" * 8_100_000)})
    assert answer.status_code in (400, 413)
    await workspace.request_json("POST", "/session/tiny", json={"size": "1M"})
    answer = await workspace.post(f"{PREFIX}/upload/tiny", files={"file": ("f", b"x" * 2_000_000)})
    assert answer.status_code == 400 and "disk limit" in answer.json()["error"]["message"]
    assert (await workspace.request_json("GET", "/files/tiny"))["files"] == []


@pytest.mark.parametrize("body", ['{"code": "\\ud800"}', '{"code": 5}', "{", "null", '{"code": "1", "event": {"a": 1e999}}'])
async def test_bodies_that_are_no_messages_are_refused(workspace: Workspace, body: str) -> None:
    answer = await workspace.post(f"{PREFIX}/execute_code/odd", content=body)
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["success"] is False


@asynccontextmanager
async def client_with_key(client: Workspace, key: str) -> AsyncIterator[Workspace]:
    async with Workspace(
        transport=client._transport, base_url=client.base_url, headers={"X-API-Key": key}, timeout=60
    ) as with_key:
        yield with_key


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def owned(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workspace]:
    """A server with keys for ann, bob, and eve, whose key is read-only."""
    settings = settings_in(str(tmp_path_factory.mktemp("state")), require_keys=True)
    now_ms = int(time.time() * 1000)
    async with open_workspace(settings) as client:
        async with open_store(settings.store_url) as store:
            for owner, scopes in (("ann", ()), ("bob", ("sessions:2",)), ("eve", ("read",))):
                key = ApiKey(id=f"key_{owner}", owner=owner, digest=hash_key(owner), scopes=scopes, created_ms=now_ms)
                await store.keys.add(key)
        yield client


async def test_a_session_of_another_owner_cannot_be_used_or_seen(owned: Workspace) -> None:
    async with client_with_key(owned, "ann") as ann, client_with_key(owned, "bob") as bob:
        await ann.request_json("POST", "/create/hers", json={"content": "secret", "filename": "s.txt"})
        for method, path, body in (
            ("GET", "/status/hers", None),
            ("GET", "/files/hers", None),
            ("GET", "/download/hers/s.txt", None),
            ("GET", "/readfile/hers/s.txt", None),
            ("GET", "/files/preview/hers/s.txt?sid=hers", None),
            ("POST", "/execute/hers", {"command": "cat s.txt"}),
            ("POST", "/execute_code/hers", {"code": "1"}),
            ("POST", "/create/hers", {"content": "", "filename": "s.txt"}),
            ("POST", "/session/hers", {}),
            ("DELETE", "/session/hers", None),
        ):
            answer = await bob.request(method, f"{PREFIX}{path}", json=body)
            assert answer.status_code == 404 and "secret" not in answer.text, path
        assert (await bob.request_json("GET", "/workspaces"))["workspaces"] == {}
        assert (await bob.request_json("POST", "/cleanup-all", json={"force": True}))["total"] == 0
        assert (await ann.request_json("GET", "/readfile/hers/s.txt"))["content"] == "secret"


async def test_a_key_makes_no_more_sessions_than_it_may(owned: Workspace) -> None:
    async with client_with_key(owned, "bob") as bob:
        answers = [await bob.post(f"{PREFIX}/execute/bobs-{n}", json={"command": "true"}) for n in range(3)]
        assert [item.status_code for item in answers] == [200, 200, 503]
        assert answers[2].json()["error"]["code"] == "RESOURCE_LIMIT"


async def test_who_may_only_look_makes_no_session_by_looking(owned: Workspace) -> None:
    async with client_with_key(owned, "eve") as eve:
        assert (await eve.get(f"{PREFIX}/status/eves")).status_code == 404
        assert (await eve.post(f"{PREFIX}/execute/eves", json={"command": "true"})).status_code == 403
        assert (await eve.request_json("GET", "/workspaces"))["workspaces"] == {}


async def test_without_a_key_there_is_health_alone(owned: Workspace) -> None:
    assert (await owned.get(f"{PREFIX}/workspaces")).status_code == 401
    assert (await owned.post("/v2/execute_code", json={"handler_code": "x"})).status_code == 401
    assert (await owned.get(f"{PREFIX}/healthy")).status_code == 200


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    async with listening(settings_in(str(tmp_path_factory.mktemp("state"))), sessions=True) as opened:
        yield opened


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)


async def test_the_execution_of_a_client_that_hangs_up_is_cancelled(server: RunningServer) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        await client.post(f"{PREFIX}/execute/left", json={"command": "true"})
        _, wire = await server.connect()
        body = b'{"command": "sleep 50"}'
        head = b"POST /workspace/se/execute/left HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        wire.write(head + body)
        await until(lambda: server.platform.admission.busy == 1)
        wire.close()
        await until(lambda: server.platform.admission.busy == 0)
        last = await server.platform.sessions.executions.latest("left")
        assert (await server.platform.sessions.executions.wait(last.id, 60)).state == "cancelled"
        assert (await client.post(f"{PREFIX}/execute/left", json={"command": "echo 1"})).json()["stdout"] == "1\n"


async def test_a_reader_that_stands_still_is_let_go(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_response, "CHUNK_TIMEOUT_S", 0.5)
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        created = await client.post(f"{PREFIX}/execute/still", json={"command": "head -c 50000000 /dev/zero > f"})
        assert created.json()["exit_code"] == 0
        reader, wire = await server.connect()
        wire.write(b"GET /workspace/se/download/still/f HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(2)  # the client reads nothing meanwhile
        got = 0
        with pytest.raises((ConnectionError, EOFError)):
            while piece := await asyncio.wait_for(reader.read(1 << 20), 10):
                got += len(piece)
            raise EOFError
        assert got < 50_000_000
        wire.close()
        assert (await client.delete(f"{PREFIX}/session/still")).status_code == 200
