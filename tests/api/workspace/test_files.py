"""Files of a session in the workspace dialect: upload, download, list, read, preview."""

from __future__ import annotations

import base64
import hashlib

import pytest
from tests.api.workspace.conftest import PREFIX, Workspace

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.requirement("workspace-1.09")
async def test_an_upload_keeps_its_name_unless_another_is_given(workspace: Workspace) -> None:
    result = await workspace.request_json("POST", "/upload/up", files={"file": ("own.txt", b"one")})
    assert (result["filename"], result["size"]) == ("own.txt", 3) and result["data"] == {"filename": "own.txt", "size": 3}
    result = await workspace.request_json("POST", "/upload/up?filename=deep/er/x.bin", files={"file": ("own.txt", b"four")})
    assert (result["filename"], result["size"]) == ("deep/er/x.bin", 4)
    assert (await workspace.execute("up", command="cat own.txt deep/er/x.bin"))["stdout"] == "onefour"


@pytest.mark.requirement("workspace-1.09", "workspace-1.10")
async def test_what_goes_in_comes_out_byte_by_byte(workspace: Workspace) -> None:
    content = hashlib.shake_256(b"seed").digest(3_000_000) + b"\r\n--boundary\r\n\r\n--"
    result = await workspace.request_json("POST", "/upload/bytes", files={"file": ("big.bin", content)}, data={"other": "field"})
    assert result["size"] == len(content)
    answer = await workspace.get(f"{PREFIX}/download/bytes/big.bin")
    assert answer.content == content and answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-length"] == str(len(content))


@pytest.mark.requirement("workspace-1.10", "workspace-1.23")
async def test_what_is_not_there_cannot_be_downloaded(workspace: Workspace) -> None:
    answer = await workspace.get(f"{PREFIX}/download/none/missing.txt")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "File not found" and answer.json()["error"]["code"] == "FILE_NOT_FOUND"


@pytest.mark.requirement("workspace-1.10")
async def test_a_folder_cannot_be_downloaded(workspace: Workspace) -> None:
    await workspace.execute("folder", command="mkdir d; mkfifo pipe; ln -s /etc/passwd link; ln -s / root")
    for name in ("d", "d/", "", "pipe", "link", "root/etc/passwd"):
        answer = await workspace.get(f"{PREFIX}/download/folder/{name}")
        assert answer.status_code == 400, name


@pytest.mark.requirement("workspace-1.10", "workspace-1.19")
@pytest.mark.parametrize("path", ["%2e%2e/x", "a/%2e%2e/%2e%2e/x", "a/..%2f..%2fetc/passwd", "%00", "%2fetc%2f..%2f..%2fx"])
@pytest.mark.parametrize("verb", ["download", "readfile", "files"])
async def test_no_path_leads_out_of_the_workspace(workspace: Workspace, verb: str, path: str) -> None:
    answer = await workspace.get(f"{PREFIX}/{verb}/paths/{path}")
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "INVALID_PATH"


@pytest.mark.requirement("workspace-1.19")
async def test_a_slash_in_front_of_a_path_means_nothing(workspace: Workspace) -> None:
    await workspace.request_json("POST", "/create/slash", json={"content": "x", "filename": "//etc/name.txt"})
    assert (await workspace.request_json("GET", "/readfile/slash//etc/name.txt"))["content"] == "x"
    assert (await workspace.execute("slash", command="ls /workspace/etc"))["stdout"] == "name.txt\n"


@pytest.mark.requirement("workspace-1.11")
async def test_a_file_is_made_from_text_with_its_mode(workspace: Workspace) -> None:
    result = await workspace.request_json("POST", "/create/made", json={"content": "π\n", "filename": "a/pi.txt"})
    assert (result["filename"], result["size"]) == ("a/pi.txt", 3)
    await workspace.request_json("POST", "/create/made", json={"content": "echo run", "filename": "run", "mode": 0o755})
    assert (await workspace.execute("made", command="cat a/pi.txt; stat -c %a a/pi.txt run; ./run"))["stdout"] == (
        "π\n644\n755\nrun\n"
    )


@pytest.mark.requirement("workspace-1.12")
async def test_listings_hide_the_logs_and_tell_what_is_what(workspace: Workspace) -> None:
    await workspace.execute("list", command="mkdir d; echo abc > d/f; touch stdout.log stderr.log top")
    result = await workspace.request_json("GET", "/files/list/")
    assert {(item["filename"], item["type"]) for item in result["files"]} == {("d", "directory"), ("top", "file")}
    (inner,) = (await workspace.request_json("GET", "/files/list/d"))["files"]
    assert inner == {"filename": "f", "name": "f", "size": 4, "type": "file"}
    result = await workspace.request_json("GET", "/files/list?recursive=true")
    assert [item["filename"] for item in result["files"]] == ["d", "d/f", "top"]


@pytest.mark.requirement("workspace-1.12")
async def test_a_folder_that_is_not_there_cannot_be_listed(workspace: Workspace) -> None:
    assert (await workspace.get(f"{PREFIX}/files/list/nowhere")).status_code == 404


@pytest.mark.requirement("workspace-1.25")
@pytest.mark.parametrize(
    ("name", "media_type"),
    [("a.html", "text/html"), ("a.PNG", "image/png"), ("a.svg", "image/svg+xml"), ("a.json", "application/json")],
)
async def test_a_preview_has_the_type_of_its_name_and_cannot_act(workspace: Workspace, name: str, media_type: str) -> None:
    await workspace.request_json("POST", "/create/shown", json={"content": "<script>alert(1)</script>", "filename": name})
    answer = await workspace.get(f"{PREFIX}/files/preview/shown/{name}?sid=shown")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith(media_type)
    assert answer.headers["content-security-policy"].startswith("sandbox;")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.requirement("workspace-1.25")
async def test_only_some_types_are_shown_and_only_to_who_knows_the_session(workspace: Workspace) -> None:
    await workspace.request_json("POST", "/create/shown", json={"content": "x", "filename": "a.exe"})
    assert (await workspace.get(f"{PREFIX}/files/preview/shown/a.exe?sid=shown")).status_code == 400
    assert (await workspace.get(f"{PREFIX}/files/preview/shown/a.html?sid=other")).status_code == 400
    assert (await workspace.get(f"{PREFIX}/files/preview/shown/a.html")).status_code == 422
    assert (await workspace.get(f"{PREFIX}/files/preview/shown/none.html?sid=shown")).status_code == 404


@pytest.mark.requirement("workspace-1.26")
async def test_a_text_is_read_slice_by_slice(workspace: Workspace) -> None:
    text = "äöü€𝄞" * 700
    await workspace.request_json("POST", "/create/read", json={"content": text, "filename": "t.md"})
    got, offset, result = "", 0, {"is_eof": False}
    while not result["is_eof"]:
        result = await workspace.request_json("GET", f"/readfile/read/t.md?offset={offset}&buffer_size=997")
        got, offset = got + result["content"], result["offset"]
        assert result["is_binary"] is False and result["size"] == len(text.encode())
    assert got == text and offset == len(text.encode())


@pytest.mark.requirement("workspace-1.26")
async def test_anything_else_is_read_as_base64(workspace: Workspace) -> None:
    content = bytes(range(256)) * 20
    await workspace.request_json("POST", "/upload/read", files={"file": ("b.bin", content)})
    result = await workspace.request_json("GET", "/readfile/read/b.bin")
    assert base64.b64decode(result["content"]) == content[:4096]
    assert (result["is_binary"], result["offset"], result["size"], result["is_eof"]) == (True, 4096, 5120, False)


@pytest.mark.requirement("workspace-1.26")
@pytest.mark.parametrize("query", ["offset=-1", "buffer_size=0", "buffer_size=999999999999", "offset=x"])
async def test_slices_are_bounded(workspace: Workspace, query: str) -> None:
    assert (await workspace.get(f"{PREFIX}/readfile/read/t.md?{query}")).status_code == 422


async def test_an_upload_that_is_no_form_is_refused(workspace: Workspace) -> None:
    for content, kind in (
        (b"bytes", "application/octet-stream"),
        (b"--b\r\nno colon\r\n\r\n", "multipart/form-data; boundary=b"),
        (b"", "multipart/form-data; boundary=b"),
        (b"--b\r\nContent-Disposition: form-data; name=other\r\n\r\nx\r\n--b--\r\n", "multipart/form-data; boundary=b"),
        (b'--b\r\nContent-Disposition: form-data; name=file; filename="f"\r\n\r\ncut', "multipart/form-data; boundary=b"),
        (b"x", "multipart/form-data; boundary=" + "b" * 5000),
        (b"x", "multipart/form-data"),
    ):
        answer = await workspace.post(f"{PREFIX}/upload/bad", content=content, headers={"Content-Type": kind})
        assert answer.status_code == 400, (content, answer.text)
    assert (await workspace.request_json("GET", "/files/bad"))["files"] == []


async def test_names_of_uploads_are_names_and_nothing_else(workspace: Workspace) -> None:
    result = await workspace.request_json("POST", "/upload/names", files={"file": ("C:\\temp\\a b.txt", b"1")})
    assert result["filename"] == "a b.txt"
    for name in ("../x", "/..", "a/../../x", "%2e%2e/x\0"):
        answer = await workspace.post(f"{PREFIX}/upload/names", params={"filename": name}, files={"file": ("f", b"1")})
        assert answer.status_code == 400, name
