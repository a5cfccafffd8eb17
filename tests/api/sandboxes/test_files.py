from __future__ import annotations

import base64
import hashlib

import pytest
from tests.api.sandboxes.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.requirement("sandboxes-6.08")
async def test_files_are_written_read_listed_and_removed(ann: Api) -> None:
    path = f"/api/v1/sandboxes/{await ann.sandbox()}/files"
    created = await ann.request_json("POST", path, 201, json={"path": "/workspace/a/b.txt", "content": "ö", "permissions": "600"})
    assert (created["path"], created["name"], created["size"], created["mode"]) == ("/workspace/a/b.txt", "b.txt", 2, "0600")
    await ann.request_error("POST", path, 409, json={"path": "a/b.txt", "content": "2"})
    await ann.request_json("POST", path, 201, json={"path": "a/b.txt", "content": "two", "overwrite": True})
    result = await ann.request_json("GET", f"{path}/a/b.txt")
    assert (result["content"], result["encoding"], result["content_type"]) == ("two", "utf8", "text/plain")
    assert result["checksum"] == f"sha256:{hashlib.sha256(b'two').hexdigest()}" and result["is_dir"] is False
    content = bytes(range(256))
    await ann.request_json("PUT", f"{path}/raw.bin", content=content)
    assert base64.b64decode((await ann.request_json("GET", f"{path}/raw.bin"))["content"]) == content
    raw = await ann.get(f"{path}/raw.bin", headers={"Accept": "application/octet-stream"})
    assert raw.content == content and raw.headers["content-security-policy"] == "sandbox"
    await ann.request_json("PUT", f"{path}/raw.bin", json={"content": base64.b64encode(b"new").decode(), "encoding": "base64"})
    assert (await ann.request_json("GET", f"{path}/raw.bin"))["content"] == "new"
    assert (await ann.request_json("GET", f"{path}/a"))["is_dir"] is True
    listed = await ann.request_json("GET", path, params={"recursive": True, "sort_by": "size", "sort_order": "desc"})
    assert {item["path"] for item in listed["data"]} == {"/workspace/a", "/workspace/a/b.txt", "/workspace/raw.bin"}
    assert [item["name"] for item in (await ann.request_json("GET", path, params={"path": "/workspace/a"}))["data"]] == ["b.txt"]
    assert (await ann.delete(f"{path}/raw.bin")).status_code == 204
    await ann.request_error("GET", f"{path}/raw.bin", 404)
    assert (await ann.delete(f"{path}/a", params={"recursive": True})).status_code == 204


@pytest.mark.requirement("sandboxes-6.08", "sandboxes-8.03")
async def test_what_is_known_of_a_file_that_was_sent_in_is_told(ann: Api, bob: Api) -> None:
    sandbox = f"/api/v2/sandboxes/{await ann.sandbox()}"
    for text in ("one", "two!"):
        await ann.request_json("POST", f"{sandbox}/files", 201, json={"path": "d/a.csv", "content": text, "overwrite": True})
    (listed,) = (await ann.request_json("GET", f"{sandbox}/files", params={"path": "d"}))["data"]
    digest = f"sha256:{hashlib.sha256(b'two!').hexdigest()}"
    assert listed["checksum"] == digest and listed["metadata"]["version"] == 2 and "versions" not in listed["metadata"]
    await ann.request_json("GET", f"{sandbox}/files/d/a.csv")
    result = (await ann.request_json("GET", f"{sandbox}/files/d/a.csv"))["metadata"]
    assert (result["mime_type"], result["access_count"], result["current"]) == ("text/csv", 2, True)
    assert [(item["version"], item["size"]) for item in result["versions"]] == [(2, 4), (1, 3)]
    await ann.request_json("POST", f"{sandbox}/exec", json={"command": "bash -c 'echo >> d/a.csv; echo > own'"})
    changed, own = [(await ann.request_json("GET", f"{sandbox}/files/{name}")) for name in ("d/a.csv", "own")]
    assert changed["metadata"]["current"] is False and changed["checksum"] != digest and "metadata" not in own
    (listed,) = (await ann.request_json("GET", f"{sandbox}/files", params={"path": "d"}))["data"]
    assert "checksum" not in listed, "what a program wrote has not been looked at"
    await ann.delete(f"{sandbox}/files/d", params={"recursive": True})
    await ann.request_json("POST", f"{sandbox}/files", 201, json={"path": "d/a.csv", "content": "3"})
    result = (await ann.request_json("GET", f"{sandbox}/files/d/a.csv"))["metadata"]
    assert result["version"] == 3 and result["versions"][1]["deleted_at"]


@pytest.mark.requirement("sandboxes-6.08")
async def test_a_large_file_goes_in_and_out_as_bytes(ann: Api) -> None:
    path = f"/api/v1/sandboxes/{await ann.sandbox()}/files/large"
    content = b"0123456789abcdef" * (12 * 65_536)
    assert (await ann.request_json("PUT", path, content=content))["size"] == len(content)
    await ann.request_error("GET", path, 400)
    assert (await ann.get(path, headers={"Accept": "application/octet-stream"})).content == content


@pytest.mark.requirement("sandboxes-6.08")
@pytest.mark.parametrize("name", ["../../etc/passwd", "a/../../x", "..", "nul\0byte", "x" * 5000, ""])
async def test_names_that_lead_out_are_refused(ann: Api, name: str) -> None:
    path = f"/api/v1/sandboxes/{await ann.sandbox()}/files"
    await ann.request_error("POST", path, 400, json={"path": name, "content": "x"})


async def test_a_link_does_not_lead_out(ann: Api) -> None:
    path = f"/api/v1/sandboxes/{await ann.sandbox()}"
    await ann.request_json("POST", f"{path}/exec", json={"command": "ln -s /etc/passwd link"})
    answer = await ann.get(f"{path}/files/link")
    assert answer.status_code in (400, 404, 409) and "root:" not in answer.text
