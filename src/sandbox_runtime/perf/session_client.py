"""Sessions over HTTP, as a client of the control plane has them."""

from __future__ import annotations

import json
from typing import Any

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.perf.http_client import Connection, Target

_BASE = "/api/v1"
FIRST = "def handler(event):\n    print(sum(range(10)))\n    return event['n'] * 2"
_VALUE = 42


class SessionClient:
    """One connection, one request at a time. Each verb checks its answer and returns the seconds from the first byte of the
    request to the last of the answer."""

    def __init__(self, url: str, connection: Connection) -> None:
        self._url = url
        self._connection = connection

    async def create(self) -> tuple[str, float]:
        body, took_s = await self._post("/sessions", {"template_id": "python-basic", "memory": "1Gi"}, 201)
        return str(body["id"]), took_s

    async def handler(self, session: str) -> float:
        request = {"code": FIRST, "language": "python", "event": {"n": _VALUE // 2}}
        body, took_s = await self._post(f"/executions/sessions/{session}/execute-sync", request, 200)
        _check(body, "45\n")
        if body["return_value"] != _VALUE:
            raise PlatformFault(f"a handler returned {body['return_value']!r} instead of {_VALUE}")
        return took_s

    async def open_context(self, session: str) -> str:
        body, _ = await self._post(f"/sessions/{session}/contexts", {}, 201)
        return str(body["id"])

    async def cell(self, session: str, context: str, code: str, printed: str) -> float:
        body, took_s = await self._post(f"/sessions/{session}/contexts/{context}/execute", {"code": code}, 200)
        _check(body, printed)
        return took_s

    async def fork(self, session: str) -> tuple[str, float]:
        body, took_s = await self._post(f"/sessions/{session}/fork", {"count": 1}, 201)
        return str(body["sessions"][0]["id"]), took_s

    async def terminate(self, session: str) -> None:
        await self._post(f"/sessions/{session}/terminate", {}, 200)

    async def _post(self, path: str, body: dict[str, Any], status: int) -> tuple[dict[str, Any], float]:
        answer = await self._connection.ask(Target.of(self._url, _BASE + path).post(json.dumps(body).encode()))
        if answer.status != status:
            text = answer.body[:300].decode(errors="replace")
            raise PlatformFault(f"{path} was answered with {answer.status} instead of {status}: {text}")
        found: dict[str, Any] = json.loads(answer.body)
        return found, answer.took_s


def _check(body: dict[str, Any], printed: str) -> None:
    if body["status"] != "completed" or body["stdout"] != printed:
        raise PlatformFault(f"a wrong result in a session: {body['status']} {body['error_message'] or body['stderr']}")
