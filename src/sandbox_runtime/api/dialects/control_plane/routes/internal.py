"""Reports of nodes elsewhere, under the addresses of both forms. Each shows the token of the settings; without one that is set,
none is taken."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from sandbox_runtime import timestamps
from sandbox_runtime.api.dialects.control_plane.mapping.reports import artifacts_of, fields_of
from sandbox_runtime.api.dialects.control_plane.quantities import ms_of
from sandbox_runtime.api.dialects.control_plane.responses import ControlPlaneRoute, answer, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import internal as wire
from sandbox_runtime.api.dialects.control_plane.schemas.nodes import Message
from sandbox_runtime.api.middleware.keyring import key_from_headers
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, SandboxError
from sandbox_runtime.model import ExecutionState
from sandbox_runtime.sessions.api.node_api import NodeReports

STATE_OF: Mapping[str, ExecutionState] = MappingProxyType(
    {
        "success": ExecutionState.completed,
        "completed": ExecutionState.completed,
        "failed": ExecutionState.failed,
        "timeout": ExecutionState.timeout,
        "crashed": ExecutionState.crashed,
    }
)
_ERRORS: Mapping[type[SandboxError], tuple[int, str]] = MappingProxyType(
    {
        NotFound: (404, "Internal.InvalidExecution"),
        Conflict: (409, "Internal.StateConflict"),
        InvalidRequest: (400, "Internal.InvalidExecution"),
    }
)


class InternalRoute(ControlPlaneRoute):
    """The token is looked at before the body."""

    def get_route_handler(self) -> Any:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            if not _is_trusted(request):
                told = "reports need the token that internal_api_token (INTERNAL_API_TOKEN) sets, as Authorization: Bearer"
                return _refused(401, "Internal.Unauthorized", told, {"WWW-Authenticate": "Bearer"})
            return await handle(request)

        return guarded


routes = APIRouter(tags=["internal"], route_class=InternalRoute)


@routes.post("/containers/ready", responses=returns(Message))
async def container_ready(request: Request, told: wire.ContainerReady) -> Response:
    """A box can be used: its session runs."""
    try:
        session_id = told.session_id or await _reports(request).find_session(told.container_id, told.pod_name or "")
        await _reports(request).mark_ready(session_id, told.container_id)
    except SandboxError as error:
        return _fault(error)
    return answer(Message(message=f"the session {session_id} is running"))


@routes.post("/sessions/{session_id}/container_ready", responses=returns(Message))
async def session_ready(request: Request, session_id: Identifier, told: wire.ContainerReady) -> Response:
    """The same, by the session's id."""
    return await container_ready(request, told.model_copy(update={"session_id": session_id}))


@routes.post("/containers/exited", responses=returns(Message))
async def container_exited(request: Request, told: wire.ContainerExited) -> Response:
    """A box is gone: its session has ended."""
    try:
        session_id = told.session_id or await _reports(request).find_session(told.container_id or "")
        session = await _reports(request).mark_exited(session_id, told.exit_code, told.exit_reason)
    except SandboxError as error:
        return _fault(error)
    return answer(Message(message=f"the session {session_id} is {session.state}"))


@routes.post("/sessions/{session_id}/container_exited", responses=returns(Message))
async def session_exited(request: Request, session_id: Identifier, told: wire.ContainerExited) -> Response:
    """The same, by the session's id."""
    return await container_exited(request, told.model_copy(update={"session_id": session_id}))


@routes.post("/executions/{execution_id}/heartbeat", responses=returns(Message))
async def heartbeat(request: Request, execution_id: Identifier, told: wire.Heartbeat | None = None) -> Response:
    """An execution is alive."""
    try:
        await _reports(request).record_heartbeat(execution_id)
    except SandboxError as error:
        return _fault(error)
    return answer(Message(message="noted"))


@routes.post("/executions/{execution_id}/result", status_code=201, responses=returns(Message, 201))
async def result(request: Request, execution_id: Identifier, told: wire.ExecutionResultReport) -> Response:
    """How an execution ended: 201 the first time; 200 when it had ended like that already, and 409 when in another way."""
    state = STATE_OF.get(told.status)
    if state is None:
        return _refused(400, "Internal.InvalidExecution", f"status is one of {', '.join(STATE_OF)}, not {told.status[:40]!r}")
    try:
        execution, new = await _reports(request).mark_ended(execution_id, state, **fields_of(told))
        if new and told.artifacts:
            await _reports(request).add_artifacts(
                execution.id, artifacts_of(execution_id, told.artifacts, timestamps.now_ms(), _artifact_id)
            )
    except SandboxError as error:
        return _fault(error)
    return answer(Message(message="recorded" if new else "known already"), 201 if new else 200)


@routes.post("/executions/{execution_id}/status", responses=returns(Message))
async def status(request: Request, execution_id: Identifier, told: wire.ExecutionStatusReport) -> Response:
    """How an execution stands."""
    reports = _reports(request)
    try:
        if told.status == "running":
            await reports.mark_running(execution_id, ms_of(told.started_at))
        else:
            at_ms = ms_of(told.timeout_at if told.status == "timeout" else told.crashed_at) or timestamps.now_ms()
            await reports.mark_ended(execution_id, STATE_OF[told.status], completed_ms=at_ms, error=told.error or told.status)
    except SandboxError as error:
        return _fault(error)
    return answer(Message(message=f"the execution {execution_id} is {told.status}"))


@routes.post("/executions/{execution_id}/artifacts", status_code=201, responses=returns(Message, 201))
async def artifacts(request: Request, execution_id: Identifier, told: wire.ArtifactReport) -> Response:
    """Which files an execution left."""
    try:
        await _reports(request).add_artifacts(
            execution_id, artifacts_of(execution_id, told.artifacts, timestamps.now_ms(), _artifact_id)
        )
    except SandboxError as error:
        return _fault(error)
    return answer(Message(message=f"{len(told.artifacts)} recorded"), 201)


def _reports(request: Request) -> NodeReports:
    return sessions_of(request).node_reports


def _is_trusted(request: Request) -> bool:
    token = platform_of(request).settings.internal_api_token.encode()
    given = key_from_headers(dict(request.scope["headers"]))
    return bool(token) and hmac.compare_digest(given, token)


def _fault(error: SandboxError) -> JSONResponse:
    found = next((_ERRORS[kind] for kind in type(error).__mro__ if kind in _ERRORS), None)
    if found is None:
        raise error
    return _refused(*found, str(error))


def _refused(status: int, code: str, text: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    names = ("message", "detail", "description", "error_detail")
    return JSONResponse({"error": code, "error_code": code, **dict.fromkeys(names, text)}, status, dict(headers or {}))


def _artifact_id() -> str:
    return f"art_{secrets.token_hex(12)}"
