"""Downloads from a document server: a small one that speaks its protocol, and misbehaves for some documents."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import pytest_asyncio
from tests.api.workspace.conftest import PREFIX, Workspace, open_workspace, settings_in

pytestmark = pytest.mark.asyncio(loop_scope="module")

CONTENT = b"content of a document" * 1000


class _Documents(BaseHTTPRequestHandler):
    """Serves gns://good; each other document fails in a different way."""

    def do_POST(self) -> None:
        request_body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != "Bearer t0ken":
            self._send(401, b"no")
        elif request_body["docid"] == "gns://odd":
            self._send(200, b'{"authrequest": 5}')
        else:
            address = f"http://127.0.0.1:{self.server.server_address[1]}/storage/{request_body['docid'][6:]}"
            self._send(200, json.dumps({"authrequest": ["GET", address, "X-Signed: yes"]}).encode())

    def do_GET(self) -> None:
        good = self.path == "/storage/good" and self.headers.get("X-Signed") == "yes"
        self._send(200, CONTENT) if good else self._send(404, b"")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def documents() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Documents) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def connected(tmp_path_factory: pytest.TempPathFactory, documents: str) -> AsyncIterator[Workspace]:
    async with open_workspace(settings_in(str(tmp_path_factory.mktemp("state")), efast_downloader_url=documents)) as client:
        yield client


@pytest.mark.requirement("workspace-1.27", "workspace-4.03")
async def test_documents_come_into_the_workspace_and_what_fails_is_told(connected: Workspace) -> None:
    files = [
        {"docid": "gns://good", "savename": "report.docx"},
        {"docid": "gns://good"},
        {"docid": "gns://missing"},
        {"docid": "gns://odd"},
        {"docid": "gns://good", "savename": "../../out"},
    ]
    body = {"file_params": files, "save_path": "/in", "token": "t0ken"}
    result = await connected.request_json("POST", "/download_from_efast/e", json=body)
    assert (result["success_count"], result["failed_count"], result["total_count"], result["save_path"]) == (2, 3, 5, "in")
    assert [item["success"] for item in result["results"]] == [True, True, False, False, False] and result["message"]
    listed = (await connected.request_json("GET", "/files/e/in"))["files"]
    assert [(item["filename"], item["size"]) for item in listed] == [("good", len(CONTENT)), ("report.docx", len(CONTENT))]


async def test_a_wrong_token_is_told(connected: Workspace) -> None:
    body = {"file_params": [{"docid": "gns://good"}], "token": "wrong"}
    result = await connected.request_json("POST", "/download_from_efast/e", json=body)
    assert result["failed_count"] == 1 and "401" in result["results"][0]["error"]


@pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://127.0.0.1:1", "file:///etc/passwd"])
async def test_no_other_server_is_asked(connected: Workspace, url: str) -> None:
    body = {"file_params": [{"docid": "gns://good"}], "efast_url": url}
    assert (await connected.post(f"{PREFIX}/download_from_efast/e", json=body)).status_code == 403


@pytest.mark.parametrize("token", ["a\r\nX-Evil: 1", "ü"])
async def test_a_token_is_no_place_for_headers(connected: Workspace, token: str) -> None:
    body = {"file_params": [{"docid": "gns://good"}], "token": token}
    assert (await connected.post(f"{PREFIX}/download_from_efast/e", json=body)).status_code == 400


@pytest.mark.requirement("workspace-1.27")
async def test_without_a_document_server_it_is_said_what_is_missing(workspace: Workspace) -> None:
    body = {"file_params": [{"docid": "gns://good"}]}
    answer = await workspace.post(f"{PREFIX}/download_from_efast/e", json=body)
    assert answer.status_code == 500 and "EFAST_DOWNLOADER_URL" in answer.json()["error"]["message"]
    for wrong in ({}, {"file_params": []}, {"file_params": [{"rev": "1"}]}):
        assert (await workspace.post(f"{PREFIX}/download_from_efast/e", json=wrong)).status_code == 422
