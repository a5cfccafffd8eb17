"""The server under attack, for client programs of the corpus.

A client.py defines `attack(server)`, which returns why the server held or raises Escaped (through `server.must`), and ends with
`target.run(attack)`. The server's address and keys arrive on standard input. Every wait has a timeout. Sessions that a client
created are deleted at the end, and a server that then does not answer a ping did not hold.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

WAIT_S = 30.0
MAX_BYTES = 64 * 1024 * 1024
SESSIONS = "/api/v1/sessions"


SPEAK = """
import os, socket, stat, struct, json
def ends():
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                yield socket.socket(fileno=os.dup(number))
        except OSError:
            pass
def say(data):
    for end in ends():
        try:
            end.sendall(data)
            return True
        except OSError:
            pass
    return False
def message(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return struct.pack('>I', len(text)) + text
"""
"""For programs in boxes: `say` writes to the control channel that they find, `message` frames a message as the server expects
it."""


class Escaped(Exception):
    """The attack succeeded."""


class Inapplicable(Exception):
    """The attack does not apply to this server."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            return {}


class Server:
    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.facts = facts
        self.url = urlsplit(facts["url"])
        self.host = self.url.hostname or "127.0.0.1"
        self.port = self.url.port or (443 if self.url.scheme == "https" else 80)
        self.keys: Mapping[str, str] = facts["keys"]
        self._sessions: list[tuple[str, str | None]] = []

    def must(self, held: bool, otherwise: str) -> None:
        if not held:
            raise Escaped(otherwise)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = "own",
        headers: Mapping[str, str] | None = None,
        wait_s: float = WAIT_S,
    ) -> Answer:
        """Send a request.

        body: bytes are sent unchanged, everything else as JSON.
        key: kind of key to send; None sends none.
        """
        connection = self._connection(wait_s)
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if data is not None else {}
        if key is not None and self.keys.get(key):
            sent["Authorization"] = f"Bearer {self.keys[key]}"
        try:
            connection.request(method, path, data, {**sent, **(headers or {})})
            answer = connection.getresponse()
            received = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, received, answer.read(MAX_BYTES))
        finally:
            connection.close()

    def _connection(self, wait_s: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        return kind(self.host, self.port, timeout=wait_s)

    def connect(self, wait_s: float = 5.0) -> socket.socket:
        sock = socket.create_connection((self.host, self.port), timeout=wait_s)
        if self.url.scheme == "https":
            return ssl.create_default_context().wrap_socket(sock, server_hostname=self.host)
        return sock

    def raw(self, data: bytes, wait_s: float = 5.0) -> bytes:
        """Send these bytes and return the answer until the server closes the connection or is silent for wait_s."""
        with self.connect(wait_s) as sock:
            answer = bytearray()
            with contextlib.suppress(OSError):
                sock.sendall(data)
            with contextlib.suppress(OSError):
                while piece := sock.recv(65536):
                    answer += piece
                    if len(answer) > MAX_BYTES:
                        break
            return bytes(answer)

    def head(self, line: str, *headers: str, key: str | None = "own") -> bytes:
        """Return the head of a raw request with Host, key and these headers."""
        lines = [line, f"Host: {self.host}:{self.port}"]
        if key is not None and self.keys.get(key):
            lines.append(f"Authorization: Bearer {self.keys[key]}")
        return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1")

    def session(self, *, key: str = "own", **fields: object) -> str:
        answer = self.request("POST", SESSIONS, {"template_id": "python-basic", **fields}, key=key)
        if answer.status in (501, 503):
            raise Inapplicable(f"this server has no sessions: {answer.json().get('message', '')}")
        if answer.status != 201:
            raise RuntimeError(f"cannot create a session: {answer.status} {answer.text[:200]}")
        session = str(answer.json()["id"])
        self.delete_later(session, key)
        return session

    def any_session(self) -> str:
        """Return a session or, if the server has none, an id that looks like one."""
        try:
            return self.session()
        except Inapplicable:
            return "sess_20200101_0000000000000000"

    def delete_later(self, session: str, key: str | None = "own") -> None:
        """Delete this session at the end."""
        self._sessions.append((session, key))

    def execute(self, session: str, code: str, *, key: str = "own", wait_s: float = WAIT_S, **fields: object) -> dict[str, Any]:
        path = f"/api/v1/executions/sessions/{session}/execute-sync"
        body = {"code": code, "language": "python", **fields}
        return dict(self.request("POST", path, body, key=key, wait_s=wait_s).json())

    def context(self, session: str, *, key: str = "own") -> str:
        """Create a context and return its path."""
        answer = self.request("POST", f"{SESSIONS}/{session}/contexts", key=key)
        if answer.status in (501, 503):
            raise Inapplicable(f"this server has no contexts: {answer.json().get('message', '')}")
        if answer.status != 201:
            raise RuntimeError(f"cannot create a context: {answer.status} {answer.text[:200]}")
        return f"{SESSIONS}/{session}/contexts/{answer.json()['id']}"

    def cell(self, context: str, code: str, *, wait_s: float = WAIT_S, **fields: object) -> dict[str, Any]:
        return dict(self.request("POST", f"{context}/execute", {"code": code, **fields}, wait_s=wait_s).json())

    def fork(self, session: str, count: int = 1) -> list[tuple[str, str]]:
        """Return the forks of a session, each with the path of its first context ("" if it has none)."""
        answer = self.request("POST", f"{SESSIONS}/{session}/fork", {"count": count}, wait_s=60)
        if answer.status in (501, 503):
            raise Inapplicable(f"this server cannot fork contexts: {answer.text[:120]}")
        if answer.status != 201:
            raise RuntimeError(f"cannot fork: {answer.status} {answer.text[:200]}")
        return [(session["id"], self._first_context(session["id"])) for session in answer.json()["sessions"]]

    def _first_context(self, session: str) -> str:
        self.delete_later(session)
        contexts = self.request("GET", f"{SESSIONS}/{session}/contexts").json().get("contexts", [])
        return f"{SESSIONS}/{session}/contexts/{contexts[0]['id']}" if contexts else ""

    def ping_s(self) -> float:
        """Return how long a ping takes."""
        started = time.monotonic()
        self.must(self.request("GET", "/v1/ping", key=None, wait_s=WAIT_S).status == 200, "the server does not answer a ping")
        return time.monotonic() - started

    def hold_pings_while(self, contexts: Sequence[str], code: str) -> str:
        """Raise Escaped if more than a tenth of the pings take far longer than before while contexts run this code."""
        before = max(self.ping_s() for _ in range(20))
        waits = sorted(self._pings_while(contexts, code))
        slow = waits[len(waits) * 9 // 10]
        self.must(slow < max(1.0, 10 * before), f"pings took {slow:.1f} s, and {before:.2f} s at the most before")
        return f"nine of ten of {len(waits)} pings took at most {slow * 1000:.0f} ms"

    def _pings_while(self, contexts: Sequence[str], code: str) -> list[float]:

        def work(context: str) -> None:
            with contextlib.suppress(OSError):
                self.request("POST", f"{context}/execute", {"code": code, "timeout": 15}, wait_s=50)

        threads = [threading.Thread(target=work, args=(context,)) for context in contexts]
        for thread in threads:
            thread.start()
        waits = [self.ping_s()]
        while any(thread.is_alive() for thread in threads):
            waits.append(self.ping_s())
            threads[0].join(0.05)
        return waits

    def upgrade(self, path: str, *headers: str, key: str | None = "own") -> bytes:
        """Return the answer to a request to open a WebSocket."""
        number = base64.b64encode(os.urandom(16)).decode()
        lines = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {number}")
        return self.raw(self.head(f"GET {path} HTTP/1.1", *lines, *headers, key=key), wait_s=2.0)

    def keyless(self) -> Server:
        """Return the second server, which needs no key."""
        return Server({**self.facts, "url": self.facts["keyless_url"] or self.facts["url"], "keys": {}})

    def close(self) -> None:
        for session, key in self._sessions:
            with contextlib.suppress(OSError, http.client.HTTPException):
                self.request("DELETE", f"{SESSIONS}/{session}", key=key)


def run(attack: Callable[[Server], str]) -> None:
    server = Server(json.loads(sys.stdin.read()))
    try:
        try:
            reason = attack(server)
        finally:
            server.close()
        server.ping_s()
    except Escaped as error:
        print(f"ESCAPED: {error}")
    except Inapplicable as error:
        print(f"NOT APPLICABLE: {error}")
    else:
        print(f"HELD: {reason}")
