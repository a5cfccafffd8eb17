"""Calls for sessions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from sandbox_runtime.errors import Conflict, Unavailable
from sandbox_runtime.sdk.aio.transport import Transport
from sandbox_runtime.sdk.execution_bodies import round_up_s
from sandbox_runtime.sdk.requests import Request, quote_name
from sandbox_runtime.sdk.session_config import Config, WorkspaceConfig, new_session_id, parse_config, session_body
from sandbox_runtime.sdk.session_models import Dependency, SessionCopies, SessionInfo, SessionPage, TemplateInfo

API = "/api/v1"
WORKSPACE = "/workspace/se"
_SESSION = TypeAdapter(SessionInfo)
_PAGE = TypeAdapter(SessionPage)
_COPIES = TypeAdapter(SessionCopies)
_TEMPLATES = TypeAdapter(list[TemplateInfo])
_POLL_S = 0.2
_INSTALL_S = 300.0


class SessionCalls:
    _transport: Transport

    async def create_session(
        self,
        session_id: str | None = None,
        config: Config | Mapping[str, Any] | None = None,
        *,
        wait_s: float = 300.0,
        **options: Any,
    ) -> SessionInfo:
        """Create a session and wait until it runs, including the installation of packages. `options`: fields of the
        configuration, such as template_id="python-basic", timeout=30. Raises Conflict if the id exists."""
        asked = parse_config(config, options)
        if isinstance(asked, WorkspaceConfig):
            return await self._create_workspace(session_id, asked, wait_s)
        body = session_body(asked, session_id)
        made = await self._transport.call(Request("POST", f"{API}/sessions", body=body, idempotent=False), _SESSION)
        return await self.wait_session(made.id, wait_s) if made.status == "creating" else made

    async def wait_session(self, session_id: str, wait_s: float = 300.0) -> SessionInfo:
        """Wait until the session runs. Raises Conflict if it failed, Unavailable after `wait_s`."""
        deadline = time.monotonic() + wait_s
        while True:
            session = await self.get_session(session_id)
            if session.ended:
                told = session.error_message or session.dependency_install_error or "no reason was given"
                raise Conflict(f"the session {session_id} is {session.status}: {told}")
            if session.status != "creating":
                return session
            if time.monotonic() > deadline:
                raise Unavailable(f"the session {session_id} was not running after {wait_s:g} s")
            await asyncio.sleep(_POLL_S)

    async def get_session(self, session_id: str) -> SessionInfo:
        return await self._transport.call(Request("GET", _session_path(session_id)), _SESSION)

    async def list_sessions(
        self, *, status: str | None = None, template_id: str | None = None, limit: int = 50, offset: int = 0
    ) -> SessionPage:
        query = {"status": status, "template_id": template_id, "limit": limit, "offset": offset}
        return await self._transport.call(Request("GET", f"{API}/sessions", query), _PAGE)

    async def terminate_session(self, session_id: str) -> SessionInfo:
        """End the session. Its record and its executions stay."""
        return await self._transport.call(Request("POST", f"{_session_path(session_id)}/terminate"), _SESSION)

    async def delete_session(self, session_id: str) -> None:
        """End the session and delete it with its executions and files."""
        await self._transport.send(Request("DELETE", _session_path(session_id), idempotent=False))

    async def close_session(self, session_id: str) -> None:
        """Same as delete_session."""
        await self.delete_session(session_id)

    async def pause_session(self, session_id: str) -> SessionInfo:
        """Pause everything in the session, time limits included. Raises Unavailable if the server does not support it."""
        return await self._transport.call(Request("POST", f"{_session_path(session_id)}/pause", idempotent=False), _SESSION)

    async def resume_session(self, session_id: str) -> SessionInfo:
        return await self._transport.call(Request("POST", f"{_session_path(session_id)}/resume", idempotent=False), _SESSION)

    async def fork_session(self, session_id: str, count: int = 1) -> list[SessionInfo]:
        """Create copies with the current files and live interpreters. Nothing may be running in the session."""
        request = Request("POST", f"{_session_path(session_id)}/fork", body={"count": count}, idempotent=False)
        return (await self._transport.call(request, _COPIES)).sessions

    async def install(
        self,
        session_id: str,
        dependencies: Sequence[Dependency | str],
        *,
        index_url: str | None = None,
        timeout_s: float = _INSTALL_S,
    ) -> SessionInfo:
        """Install packages, given as names or as Dependency."""
        asked = [one if isinstance(one, Dependency) else Dependency(name=one) for one in dependencies]
        body: dict[str, Any] = {"dependencies": [one.model_dump(exclude_none=True) for one in asked]}
        body["install_timeout"] = round_up_s(timeout_s)
        if index_url:
            body["python_package_index_url"] = index_url
        request = Request(
            "POST",
            f"{_session_path(session_id)}/dependencies/install",
            body=body,
            timeout_s=timeout_s + (self._transport.timeout_s or 0.0),
        )
        return await self._transport.call(request, _SESSION)

    async def list_templates(self, limit: int = 50, offset: int = 0) -> list[TemplateInfo]:
        return await self._transport.call(Request("GET", f"{API}/templates", {"limit": limit, "offset": offset}), _TEMPLATES)

    async def _create_workspace(self, session_id: str | None, config: WorkspaceConfig, wait_s: float) -> SessionInfo:
        """Create a session through the workspace interface, where the client chooses the id."""
        name = session_id or new_session_id()
        request = Request(
            "POST", f"{WORKSPACE}/session/{quote_name(name, 'session')}", body=session_body(config, None), idempotent=False
        )
        await self._transport.send(request)
        return await self.wait_session(name, wait_s)


def _session_path(session_id: str) -> str:
    return f"{API}/sessions/{quote_name(session_id, 'session')}"
