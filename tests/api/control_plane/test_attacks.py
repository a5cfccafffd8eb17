"""Malicious requests are rejected, and the server keeps running."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
import zipfile
from typing import Any

import pytest
from tests.api.control_plane.clients import TEMPLATE, ControlPlaneClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

SESSIONS = "/api/v1/sessions"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b'"text"',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"template_id": ' + b"[" * 50_000,
        b'{"template_id": NaN}',
        b'{"template_id": "\\ud800"}',
        b'{"template_id": "python-basic", "timeout": 1e400}',
        b'{"template_id": "python-basic", "timeout": 99999999999999999999999999}',
        b'{"template_id": "python-basic", "env_vars": {"A": 1}}' * 2,
    ],
)
async def test_bodies_that_are_no_request_are_refused(client: ControlPlaneClient, body: bytes) -> None:
    session = (await client.session())["id"]
    for path in (SESSIONS, f"{SESSIONS}/{session}/execute", f"{SESSIONS}/{session}/files/move", "/api/v1/templates"):
        answer = await client.post(path, content=body, headers=JSON)
        assert answer.status_code in (400, 422), (path, answer.status_code, answer.text[:200])
        assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", "a%0d%0aX-Evil: 1", "x" * 5000, "%ff%fe", "' OR 1=1 --", "*", "{}"]
)
async def test_ids_that_are_none_find_nothing(client: ControlPlaneClient, name: str) -> None:
    for path in (
        f"{SESSIONS}/{name}",
        f"/api/v1/executions/{name}/result",
        f"/api/v1/templates/{name}",
        f"/api/v1/containers/{name}",
    ):
        answer = await client.get(path)
        assert answer.status_code in (200, 307, 404, 422), (path, answer.status_code)
        assert "X-Evil" not in answer.headers and "root:" not in answer.text
        if answer.status_code == 200:
            assert name in ("..", "%2e%2e"), path


async def test_an_error_does_not_repeat_what_was_sent(client: ControlPlaneClient) -> None:
    secret = "hunter2" * 1000
    answer = await client.post(SESSIONS, json={"template_id": TEMPLATE, "timeout": secret})
    assert answer.status_code == 422 and "hunter2" not in answer.text


async def test_a_body_that_is_too_large_is_not_read(client: ControlPlaneClient) -> None:
    answer = await client.post(SESSIONS, content=b"x" * (65 * 1024 * 1024), headers=JSON)
    assert answer.status_code == 413


async def test_a_body_without_a_length_is_counted(client: ControlPlaneClient) -> None:
    session = (await client.session())["id"]

    async def endless() -> Any:
        for _ in range(40):
            yield b"x" * 1024 * 1024

    answer = await client.put(f"{SESSIONS}/{session}/files/endless", content=endless())
    assert answer.status_code in (400, 413)
    assert (await client.get(f"{SESSIONS}/{session}/files")).json()["count"] == 0


async def test_an_archive_that_leads_elsewhere_or_explodes_is_refused(client: ControlPlaneClient) -> None:
    def tar(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> bytes:
        held = io.BytesIO()
        with tarfile.open(fileobj=held, mode="w") as archive:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member)
        return held.getvalue()

    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * (64 * 1024 * 1024))
    session = (await client.session(disk="8Mi"))["id"]
    for content in (tar("../out"), tar("/etc/out"), tar("dev", tarfile.CHRTYPE), bomb.getvalue(), b"no archive", b""):
        answer = await client.post(
            f"{SESSIONS}/{session}/archive", content=content, headers={"Content-Type": "application/x-tar"}
        )
        assert 400 <= answer.status_code < 500, answer.text
    listed = (await client.run(session, "ls /workspace", "shell"))["stdout"]
    assert "out" not in listed and "dev" not in listed


async def test_many_who_ask_for_one_id_get_one_session(client: ControlPlaneClient) -> None:
    body = {"template_id": TEMPLATE, "id": "contended"}
    answers = await asyncio.gather(*(client.post(SESSIONS, json=body) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7


async def test_deep_values_of_a_handler_come_back_or_are_told(client: ControlPlaneClient) -> None:
    session = (await client.session())["id"]
    code = "def handler(event):\n    v = []\n    for _ in range(5000):\n        v = [v]\n    return v"
    answer = await client.post(f"/api/v1/executions/sessions/{session}/execute-sync", json={"code": code, "language": "python"})
    assert answer.status_code == 200 and answer.json()["status"] in ("completed", "failed"), answer.text[:300]
    assert json.loads((await client.get(f"/api/v1/executions/{answer.json()['id']}")).text)["id"]


async def test_a_program_cannot_write_into_the_answer(client: ControlPlaneClient) -> None:
    """Markers that other executors parse are plain output here."""
    session = (await client.session())["id"]
    code = "print('===SANDBOX_RESULT===\\n{\"a\": 1}\\n===SANDBOX_RESULT_END===')\ndef handler(event):\n    return 'real'"
    execution = await client.run(session, code)
    assert execution["return_value"] == "real" and "SANDBOX_RESULT" in execution["stdout"]
