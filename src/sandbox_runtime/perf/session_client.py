"""Sessions over HTTP, as a client of the control plane has them."""

from __future__ import annotations

import json
from typing import Any

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.perf.client import Connection, Target

_BASE = "/api/v1"
FIRST = "def handler(event):\n    print(sum(range(10)))\n    return event['n'] * 2"
_VALUE = 42


class Door:
    """One connection, one request at a time. Each verb checks its answer and returns the seconds from the first byte of the
    request to the last of the answer."""

    def __init__(self, url: str, connection: Connection) -> None:
        self._url = url
        self._connection = connection

    async def create(self) -> tuple[str, float]:
        told, took_s = await self._post("/sessions", {"template_id": "python-basic", "memory": "1Gi"}, 201)
        return str(told["id"]), took_s

    async def handler(self, session: str) -> float:
        body = {"code": FIRST, "language": "python", "event": {"n": _VALUE // 2}}
        told, took_s = await self._post(f"/executions/sessions/{session}/execute-sync", body, 200)
        _check(told, "45\n")
        if told["return_value"] != _VALUE:
            raise PlatformFault(f"a handler returned {told['return_value']!r} instead of {_VALUE}")
        return took_s

    async def open_context(self, session: str) -> str:
        told, _ = await self._post(f"/sessions/{session}/contexts", {}, 201)
        return str(told["id"])

    async def cell(self, session: str, context: str, code: str, printed: str) -> float:
        told, took_s = await self._post(f"/sessions/{session}/contexts/{context}/execute", {"code": code}, 200)
        _check(told, printed)
        return took_s

    async def fork(self, session: str) -> tuple[str, float]:
        told, took_s = await self._post(f"/sessions/{session}/fork", {"count": 1}, 201)
        return str(told["sessions"][0]["id"]), took_s

    async def terminate(self, session: str) -> None:
        await self._post(f"/sessions/{session}/terminate", {}, 200)

    async def _post(self, path: str, body: dict[str, Any], status: int) -> tuple[dict[str, Any], float]:
        answer = await self._connection.ask(Target.of(self._url, _BASE + path).post(json.dumps(body).encode()))
        if answer.status != status:
            told = answer.body[:300].decode(errors="replace")
            raise PlatformFault(f"{path} was answered with {answer.status} instead of {status}: {told}")
        found: dict[str, Any] = json.loads(answer.body)
        return found, answer.took_s


def _check(told: dict[str, Any], printed: str) -> None:
    if told["status"] != "completed" or told["stdout"] != printed:
        raise PlatformFault(f"a wrong result in a session: {told['status']} {told['error_message'] or told['stderr']}")
