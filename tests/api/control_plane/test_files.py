"""Files of sessions over /api/v1: upload, download, list, and paths that lead out of the workspace."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from typing import Any

import pytest
from tests.api.control_plane.clients import ControlPlaneClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 1024 * 1024


def files_of(session: dict[str, Any]) -> str:
    return f"/api/v1/sessions/{session['id']}/files"


async def upload(
    client: ControlPlaneClient, session: dict[str, Any], name: str, content: bytes, path: str = ""
) -> dict[str, Any]:
    answer = await client.post(f"{files_of(session)}/upload", params={"path": path}, files={"file": (name, content)})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.requirement("control_plane-1.19", "control_plane-1.20", "control_plane-2.12")
async def test_a_file_that_was_sent_in_is_there_for_programs_and_comes_back(client: ControlPlaneClient) -> None:
    session = await client.session()
    body = await upload(client, session, "data.bin", b"\x00\xff" * 10, path="in/data.bin")
    assert body == {"session_id": session["id"], "file_path": "in/data.bin", "path": "in/data.bin", "size": 20}
    assert (await client.run(session["id"], "wc -c < in/data.bin", "shell"))["stdout"].strip() == "20"
    answer = await client.get(f"{files_of(session)}/in/data.bin")
    assert answer.status_code == 200 and answer.content == b"\x00\xff" * 10
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and "attachment" in answer.headers["Content-Disposition"]


@pytest.mark.requirement("control_plane-1.19")
@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("", "up.txt"),
        ("sub/", "sub/up.txt"),
        ("/workspace/x.txt", "x.txt"),
        ("/workspace/", "up.txt"),
        ("a/b/c.txt", "a/b/c.txt"),
    ],
)
async def test_path_names_the_file_or_its_folder(client: ControlPlaneClient, path: str, there: str) -> None:
    session = await client.session()
    assert (await upload(client, session, "up.txt", b"hello", path))["file_path"] == there
    assert (await client.get(f"{files_of(session)}/{there}")).content == b"hello"


@pytest.mark.requirement("control_plane-1.18")
async def test_files_are_listed_below_a_path(client: ControlPlaneClient) -> None:
    session = await client.session()
    for name in ("a.txt", "sub/b.txt", "sub/deep/c.txt"):
        await upload(client, session, "f", b"123", name)
    whole = (await client.get(files_of(session))).json()
    assert whole["count"] == 3 and [entry["name"] for entry in whole["files"]] == ["a.txt", "sub/b.txt", "sub/deep/c.txt"]
    assert whole["files"][1]["container_path"] == "/workspace/sub/b.txt" and whole["files"][1]["size"] == 3
    assert set(whole["files"][0]) == {"name", "container_path", "size", "modified_time", "etag"}
    below = (await client.get(files_of(session), params={"path": "/workspace/sub"})).json()
    assert [entry["name"] for entry in below["files"]] == ["sub/b.txt", "sub/deep/c.txt"]
    assert (await client.get(files_of(session), params={"limit": 2})).json()["truncated"]
    for limit in (0, 10_001):
        assert (await client.get(files_of(session), params={"limit": limit})).status_code == 422


@pytest.mark.requirement("control_plane-1.20", "control_plane-2.12")
async def test_a_large_file_is_an_address_that_needs_no_key(client: ControlPlaneClient) -> None:
    session = await client.session()
    await client.run(session["id"], "open('big', 'wb').write(b'x' * (10 * 1024 * 1024))")
    body = (await client.get(f"{files_of(session)}/big")).json()
    assert body["session_id"] == session["id"] and body["file_path"] == "big" and body["size"] == 10 * MIB
    answer = await client.get(body["presigned_url"])
    assert answer.status_code == 200 and len(answer.content) == 10 * MIB
    tampered = body["presigned_url"][:-4] + "AAAA"
    assert (await client.get(tampered)).status_code == 403
    assert len((await client.get(f"{files_of(session)}/big", params={"download": True})).content) == 10 * MIB


@pytest.mark.requirement("control_plane-2.12")
async def test_a_redirect_leads_to_the_same_bytes(client: ControlPlaneClient) -> None:
    session = await client.session()
    await upload(client, session, "f.txt", b"small")
    answer = await client.get(f"{files_of(session)}/f.txt", params={"redirect": True})
    assert answer.status_code == 307
    assert (await client.get(answer.headers["Location"])).content == b"small"


async def test_a_part_of_a_file_can_be_had(client: ControlPlaneClient) -> None:
    session = await client.session()
    await upload(client, session, "f.txt", b"0123456789")
    path = f"{files_of(session)}/f.txt"
    assert (await client.get(path, params={"offset": 3, "length": 4})).content == b"3456"
    assert (await client.get(path, params={"offset": 8})).content == b"89"
    assert (await client.get(path, params={"offset": 80})).content == b""


async def test_files_are_written_moved_and_deleted(client: ControlPlaneClient) -> None:
    session = await client.session()
    base = files_of(session)
    assert (await client.put(f"{base}/n/new.txt", content=b"body")).json()["size"] == 4
    assert (await client.post(f"{base}/move", json={"source": "n/new.txt", "target": "other.txt"})).status_code == 200
    assert (await client.get(f"{base}/other.txt")).content == b"body"
    assert (await client.get(f"{base}/n/new.txt")).status_code == 404
    assert (await client.delete(f"{base}/other.txt")).status_code == 204
    assert (await client.get(f"{base}/other.txt")).status_code == 404


async def test_archives_come_out_and_go_in(client: ControlPlaneClient) -> None:
    session, other = await client.session(), await client.session()
    await upload(client, session, "f", b"one", "d/one.txt")
    packed = await client.get(f"/api/v1/sessions/{session['id']}/archive", params={"path": "d"})
    with tarfile.open(fileobj=io.BytesIO(packed.content)) as tar:
        assert any(name.endswith("one.txt") for name in tar.getnames())
    zipped = await client.get(f"/api/v1/sessions/{session['id']}/archive", params={"format": "zip"})
    assert any(name.endswith("one.txt") for name in zipfile.ZipFile(io.BytesIO(zipped.content)).namelist())
    answer = await client.post(
        f"/api/v1/sessions/{other['id']}/archive", content=zipped.content, headers={"Content-Type": "application/zip"}
    )
    assert answer.status_code == 200 and answer.json()["files"] == 1, answer.text
    assert (await client.get(f"{files_of(other)}/d/one.txt")).content == b"one"
    assert (await client.get(f"/api/v1/sessions/{other['id']}/archive", params={"path": "none"})).status_code == 404


async def test_a_watch_tells_what_changes(client: ControlPlaneClient) -> None:
    session = await client.session()
    path = f"/api/v1/sessions/{session['id']}/watch"
    await upload(client, session, "f.txt", b"x")
    answer = await client.get(path, params={"seconds": 0.2})
    assert answer.text.startswith("event: ready") and answer.headers["Content-Type"].startswith("text/event-stream")


@pytest.mark.requirement("control_plane-1.19")
async def test_a_file_that_is_too_large_is_refused(client: ControlPlaneClient) -> None:
    session = await client.session()
    answer = await client.post(f"{files_of(session)}/upload", files={"file": ("f", b"x" * (22 * MIB))})
    assert answer.status_code == 413
    answer = await client.post(f"{files_of(session)}/upload", files={"file": ("f", b"x" * (20 * MIB + 1))})
    assert answer.status_code == 400 and "bytes" in answer.json()["message"]
    assert (await client.get(files_of(session))).json()["count"] == 0


@pytest.mark.parametrize(
    "name", ["../out", "a/../../out", "/etc/passwd", "..\\out/../..", "/workspace/../etc/passwd", "x" * 300, "\x01/../../x"]
)
async def test_names_that_lead_elsewhere_are_refused(client: ControlPlaneClient, name: str) -> None:
    session = await client.session()
    for answer in (
        await client.post(f"{files_of(session)}/upload", params={"path": name}, files={"file": ("f", b"x")}),
        await client.get(files_of(session), params={"path": name}),
        await client.post(f"{files_of(session)}/move", json={"source": "f", "target": name}),
    ):
        assert 400 <= answer.status_code < 500, (name, answer.status_code, answer.text)


async def test_links_lead_nowhere(client: ControlPlaneClient) -> None:
    session = await client.session()
    await client.run(session["id"], "ln -s /etc/passwd link; ln -s / root", "shell")
    for name in ("link", "root/etc/passwd"):
        answer = await client.get(f"{files_of(session)}/{name}")
        assert 400 <= answer.status_code < 500 and b"root:" not in answer.content


async def test_a_name_with_line_breaks_gets_into_no_header(client: ControlPlaneClient) -> None:
    session = await client.session()
    code = "open('a\\r\\nX-Evil: 1\\r\\n\\r\\n', 'w').write('x')"
    await client.run(session["id"], code)
    answer = await client.get(f"{files_of(session)}/a%0D%0AX-Evil: 1%0D%0A%0D%0A")
    assert "X-Evil" not in answer.headers


@pytest.mark.parametrize("filename", ["../../x.txt", "..", "C:\\dir\\x.txt", "/etc/x.txt"])
async def test_of_the_sender_s_own_name_only_the_last_part_counts(client: ControlPlaneClient, filename: str) -> None:
    session = await client.session()
    answer = await client.post(f"{files_of(session)}/upload", files={"file": (filename, b"x")})
    assert answer.status_code == 400 if filename == ".." else answer.json()["file_path"] == "x.txt"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"no form", "multipart/form-data"),
        (b"{}", "application/x-www-form-urlencoded"),
        (b"--b\r\n", "multipart/form-data; boundary=b"),
    ],
)
async def test_what_is_no_form_is_refused(client: ControlPlaneClient, content: bytes, kind: str) -> None:
    session = await client.session()
    answer = await client.post(f"{files_of(session)}/upload", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 400, json.dumps(answer.json())
