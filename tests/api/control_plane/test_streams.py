"""Live output over server-sent events and WebSockets, resumed at any byte."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import websockets
from tests.api.control_plane.clients import ControlPlaneClient, network_client
from tests.api.keys import new_key

from sandbox_runtime.api.dialects.control_plane.routes import output_streams
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNTING = "for n in range(5):\n    print(n, flush=True)"
WAITING = """
import os, time
for n in range(5):
    print(n, flush=True)
    while n == 1 and not os.path.exists("go"):
        time.sleep(0.01)
"""
"""Waits after its second line for go_on()."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def listening(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ControlPlaneClient]:
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), check_languages=False, log_level="error")
    async with network_client(settings) as opened:
        yield opened


def events(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (id, name, data) of each event."""
    received = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line and not line.startswith(":"))
        if fields:
            received.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return received


def text_of(received: list[tuple[str, str, dict[str, Any]]], stream: str = "stdout") -> str:
    return "".join(data["data"] for _, name, data in received if name == stream)


async def go_on(client: ControlPlaneClient, session: str) -> None:
    assert (await client.put(f"/api/v1/sessions/{session}/files/go", content=b"")).is_success


@pytest.mark.requirement("control_plane-9.03")
async def test_output_is_sent_while_the_program_runs(listening: ControlPlaneClient) -> None:
    session = (await listening.session())["id"]
    execution = await listening.submit(session, WAITING)
    seen = []
    async with listening.stream("GET", f"/api/v1/executions/{execution}/stream") as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        async for line in answer.aiter_lines():
            if line.startswith("event: stdout") and not seen:
                running = (await listening.get(f"/api/v1/executions/{execution}")).json()["status"]
                seen.append(running)
                await go_on(listening, session)
            if line.startswith("event: end"):
                seen.append("end")
    assert seen == ["running", "end"]


@pytest.mark.requirement("control_plane-9.03")
async def test_a_lost_connection_goes_on_where_it_was(listening: ControlPlaneClient) -> None:
    session = (await listening.session())["id"]
    execution = await listening.submit(session, WAITING)
    first = ""
    async with listening.stream("GET", f"/api/v1/executions/{execution}/stream") as answer:
        async for chunk in answer.aiter_text():
            first += chunk
            if text_of(events(first[: first.rfind("\n\n") + 2])).count("\n") >= 2:
                break
    begun = events(first[: first.rfind("\n\n") + 2])
    await go_on(listening, session)
    rest = await listening.get(f"/api/v1/executions/{execution}/stream", headers={"Last-Event-ID": begun[-1][0]})
    assert text_of(begun) + text_of(events(rest.text)) == "0\n1\n2\n3\n4\n"
    assert events(rest.text)[-1][1:] == ("end", events(rest.text)[-1][2]) and events(rest.text)[-1][2]["status"] == "completed"


@pytest.mark.requirement("control_plane-9.03")
@pytest.mark.parametrize("offset", [0, 3, 9, 10, 500])
async def test_it_begins_at_the_byte_that_is_asked_for(listening: ControlPlaneClient, offset: int) -> None:
    session = await listening.session()
    shown = await listening.run(session["id"], COUNTING)
    path = f"/api/v1/executions/{shown['id']}/stream"
    answer = await listening.get(path, params={"offset": offset, "stream": "stdout"})
    assert text_of(events(answer.text)) == "0\n1\n2\n3\n4\n"[offset:]
    own = await listening.get(path, params={"stdout_offset": offset, "stderr_offset": 0})
    assert text_of(events(own.text)) == "0\n1\n2\n3\n4\n"[offset:]


async def test_bytes_that_are_no_text_are_not_lost(listening: ControlPlaneClient) -> None:
    session = await listening.session()
    code = "import sys\nsys.stdout.buffer.write(b'\\xff\\x00\\xe2\\x82')"
    shown = await listening.run(session["id"], code)
    received = events((await listening.get(f"/api/v1/executions/{shown['id']}/stream")).text)
    data = b"".join(
        base64.b64decode(message["data_base64"]) if "data_base64" in message else message["data"].encode()
        for _, name, message in received
        if name == "stdout"
    )
    assert data == b"\xff\x00\xe2\x82"


@pytest.mark.parametrize("query", [{"offset": -1}, {"stream": "stdin"}, {"stdout_offset": "x"}, {"offset": 2**60}])
async def test_offsets_that_make_no_sense_are_refused(listening: ControlPlaneClient, query: dict[str, Any]) -> None:
    shown = await listening.run((await listening.session())["id"], "print(1)")
    assert (await listening.get(f"/api/v1/executions/{shown['id']}/stream", params=query)).status_code == 422
    odd = await listening.get(f"/api/v1/executions/{shown['id']}/stream", headers={"Last-Event-ID": "stdout:x"})
    assert odd.status_code == 400
    assert (await listening.get("/api/v1/executions/none/stream")).status_code == 404


@pytest.mark.requirement("control_plane-9.04")
async def test_a_websocket_tells_the_same(listening: ControlPlaneClient) -> None:
    session = (await listening.session())["id"]
    execution = await listening.submit(session, WAITING)
    url = f"{str(listening.base_url).replace('http', 'ws', 1)}/api/v1/executions/{execution}/ws"
    async with websockets.connect(url) as line:
        messages = [json.loads(await line.recv())]
        await go_on(listening, session)
        messages += [json.loads(text) async for text in line]
    assert "".join(message["data"] for message in messages if message["type"] == "stdout") == "0\n1\n2\n3\n4\n"
    assert messages[-1]["type"] == "end" and messages[-1]["status"] == "completed"
    async with websockets.connect(f"{url}?offset=6&stream=stdout") as line:
        again = [json.loads(text) async for text in line]
    assert "".join(message["data"] for message in again if message["type"] == "stdout") == "3\n4\n"


@pytest.mark.requirement("control_plane-9.04")
@pytest.mark.parametrize(("name", "query", "status"), [("none", "", 404), ("", "?offset=-1", 400), ("", "?stream=x", 400)])
async def test_a_websocket_that_asks_for_nonsense_is_not_opened(
    listening: ControlPlaneClient, name: str, query: str, status: int
) -> None:
    execution = name or (await listening.run((await listening.session())["id"], "print(1)"))["id"]
    url = f"{str(listening.base_url).replace('http', 'ws', 1)}/api/v1/executions/{execution}/ws{query}"
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(url)
    assert refused.value.response.status_code == status


async def test_a_websocket_of_another_site_s_page_is_not_opened(listening: ControlPlaneClient) -> None:
    shown = await listening.run((await listening.session())["id"], "print(1)")
    url = f"{str(listening.base_url).replace('http', 'ws', 1)}/api/v1/executions/{shown['id']}/ws"
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(url, origin=websockets.Origin("https://example.org"))
    assert refused.value.response.status_code == 403


async def test_a_reader_that_leaves_stops_nothing(listening: ControlPlaneClient) -> None:
    session = (await listening.session())["id"]
    execution = await listening.submit(session, WAITING)
    async with listening.stream("GET", f"/api/v1/executions/{execution}/stream") as answer:
        async for _ in answer.aiter_bytes():
            break
    await go_on(listening, session)
    shown = await listening.get(f"/api/v1/executions/{execution}/stream")
    assert text_of(events(shown.text)) == "0\n1\n2\n3\n4\n"


async def test_a_file_larger_than_any_piece_comes_whole_over_a_real_connection(listening: ControlPlaneClient) -> None:
    session = await listening.session()
    content = bytes(range(256)) * 12_000
    path = f"/api/v1/sessions/{session['id']}/files"
    assert (await listening.put(f"{path}/big.bin", content=content)).json()["size"] == len(content)
    assert (await listening.get(f"{path}/big.bin")).content == content


@pytest.mark.requirement("control_plane-9.04", "control_plane-9.05")
async def test_a_websocket_needs_a_key_and_the_right_owner(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path), require_keys=True, check_languages=False, log_level="error")
    async with network_client(settings) as client:
        alice, bob = await new_key(client.platform, "alice"), await new_key(client.platform, "bob")
        client.headers.update(alice)
        shown = await client.run((await client.session())["id"], "print('mine')")
        url = f"{str(client.base_url).replace('http', 'ws', 1)}/api/v1/executions/{shown['id']}/ws"
        for headers, status in (({}, 401), ({"Authorization": "Bearer x"}, 401), (bob, 404)):
            with pytest.raises(websockets.InvalidStatus) as refused:
                await websockets.connect(url, additional_headers=headers)
            assert refused.value.response.status_code == status
        async with websockets.connect(url, additional_headers=alice) as line:
            assert json.loads(await line.recv())["data"] == "mine\n"


async def test_a_quiet_stream_gives_a_sign_of_life_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_streams, "KEEP_ALIVE_S", 0.01)
    signs = asyncio.Semaphore(0)

    async def slow() -> AsyncIterator[int]:
        for number in range(3):
            await signs.acquire()
            yield number

    shown = []
    async for message in output_streams._with_keep_alive(slow()):
        shown.append(message)
        if message is None:
            signs.release()
    assert [message for message in shown if message is not None] == [0, 1, 2] and None in shown
