"""Reports of other nodes, at the paths of both versions of the protocol.

Each request needs the token of the settings. If none is set, all reports are rejected.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from sandbox_runtime import timestamps
from sandbox_runtime.api.dialects.control_plane.mapping.node_reports import to_artifacts, to_execution_fields
from sandbox_runtime.api.dialects.control_plane.mapping.times import to_ms
from sandbox_runtime.api.dialects.control_plane.responses import ControlPlaneRoute, json_response, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import node_reports as schemas
from sandbox_runtime.api.dialects.control_plane.schemas.common import MessageResponse
from sandbox_runtime.api.middleware.keyring import key_from_headers
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, SandboxError
from sandbox_runtime.model import ExecutionState
from sandbox_runtime.sessions.api.node_api import NodeReports

STATES: Mapping[str, ExecutionState] = MappingProxyType(
    {
        "success": ExecutionState.completed,
        "completed": ExecutionState.completed,
        "failed": ExecutionState.failed,
        "timeout": ExecutionState.timeout,
        "crashed": ExecutionState.crashed,
    }
)
_ERROR_CODES: Mapping[type[SandboxError], tuple[int, str]] = MappingProxyType(
    {
        NotFound: (404, "Internal.InvalidExecution"),
        Conflict: (409, "Internal.StateConflict"),
        InvalidRequest: (400, "Internal.InvalidExecution"),
    }
)


class InternalRoute(ControlPlaneRoute):
    """Checks the token before the body is read."""

    def get_route_handler(self) -> Any:
        handle = super().get_route_handler()

        async def handle_trusted(request: Request) -> Response:
            if not _is_trusted(request):
                text = "reports require the token of internal_api_token (INTERNAL_API_TOKEN): send it as Authorization: Bearer"
                return _error_response(401, "Internal.Unauthorized", text, {"WWW-Authenticate": "Bearer"})
            return await handle(request)

        return handle_trusted


router = APIRouter(tags=["internal"], route_class=InternalRoute)


@router.post("/containers/ready", responses=returns(MessageResponse))
async def container_ready(request: Request, report: schemas.ContainerReadyReport) -> Response:
    """Report that a container is ready. Its session is running from now on."""
    try:
        session_id = report.session_id or await _reports(request).find_session(report.container_id, report.pod_name or "")
        await _reports(request).mark_ready(session_id, report.container_id)
    except SandboxError as error:
        return _known_error(error)
    return json_response(MessageResponse(message=f"the session {session_id} is running"))


@router.post("/sessions/{session_id}/container_ready", responses=returns(MessageResponse))
async def session_ready(request: Request, session_id: Identifier, report: schemas.ContainerReadyReport) -> Response:
    """Report that the container of a session is ready."""
    return await container_ready(request, report.model_copy(update={"session_id": session_id}))


@router.post("/containers/exited", responses=returns(MessageResponse))
async def container_exited(request: Request, report: schemas.ContainerExitedReport) -> Response:
    """Report that a container has exited. Its session ends."""
    try:
        session_id = report.session_id or await _reports(request).find_session(report.container_id or "")
        session = await _reports(request).mark_exited(session_id, report.exit_code, report.exit_reason)
    except SandboxError as error:
        return _known_error(error)
    return json_response(MessageResponse(message=f"the session {session_id} is {session.state}"))


@router.post("/sessions/{session_id}/container_exited", responses=returns(MessageResponse))
async def session_exited(request: Request, session_id: Identifier, report: schemas.ContainerExitedReport) -> Response:
    """Report that the container of a session has exited."""
    return await container_exited(request, report.model_copy(update={"session_id": session_id}))


@router.post("/executions/{execution_id}/heartbeat", responses=returns(MessageResponse))
async def heartbeat(request: Request, execution_id: Identifier, report: schemas.HeartbeatReport | None = None) -> Response:
    """Report that an execution is alive."""
    try:
        await _reports(request).record_heartbeat(execution_id)
    except SandboxError as error:
        return _known_error(error)
    return json_response(MessageResponse(message="recorded"))


@router.post("/executions/{execution_id}/result", status_code=201, responses=returns(MessageResponse, 201))
async def result(request: Request, execution_id: Identifier, report: schemas.ExecutionResultReport) -> Response:
    """Report the result of an execution. Returns 201 the first time, 200 for the same result again and 409 for another one."""
    state = STATES.get(report.status)
    if state is None:
        text = f"status must be one of {', '.join(STATES)}, not {report.status[:40]!r}"
        return _error_response(400, "Internal.InvalidExecution", text)
    try:
        execution, new = await _reports(request).mark_ended(execution_id, state, **to_execution_fields(report))
        if new and report.artifacts:
            await _reports(request).add_artifacts(
                execution.id, to_artifacts(execution_id, report.artifacts, timestamps.now_ms(), _new_artifact_id)
            )
    except SandboxError as error:
        return _known_error(error)
    return json_response(MessageResponse(message="recorded" if new else "already recorded"), 201 if new else 200)


@router.post("/executions/{execution_id}/status", responses=returns(MessageResponse))
async def status(request: Request, execution_id: Identifier, report: schemas.ExecutionStatusReport) -> Response:
    """Report the status of an execution."""
    reports = _reports(request)
    try:
        if report.status == "running":
            await reports.mark_running(execution_id, to_ms(report.started_at))
        else:
            at_ms = to_ms(report.timeout_at if report.status == "timeout" else report.crashed_at) or timestamps.now_ms()
            await reports.mark_ended(execution_id, STATES[report.status], completed_ms=at_ms, error=report.error or report.status)
    except SandboxError as error:
        return _known_error(error)
    return json_response(MessageResponse(message=f"the execution {execution_id} is {report.status}"))


@router.post("/executions/{execution_id}/artifacts", status_code=201, responses=returns(MessageResponse, 201))
async def artifacts(request: Request, execution_id: Identifier, report: schemas.ArtifactReport) -> Response:
    """Report the files that an execution created."""
    try:
        await _reports(request).add_artifacts(
            execution_id, to_artifacts(execution_id, report.artifacts, timestamps.now_ms(), _new_artifact_id)
        )
    except SandboxError as error:
        return _known_error(error)
    return json_response(MessageResponse(message=f"{len(report.artifacts)} recorded"), 201)


def _reports(request: Request) -> NodeReports:
    return sessions_of(request).node_reports


def _is_trusted(request: Request) -> bool:
    token = platform_of(request).settings.internal_api_token.encode()
    given = key_from_headers(dict(request.scope["headers"]))
    return bool(token) and hmac.compare_digest(given, token)


def _known_error(error: SandboxError) -> JSONResponse:
    status_and_code = next((_ERROR_CODES[kind] for kind in type(error).__mro__ if kind in _ERROR_CODES), None)
    if status_and_code is None:
        raise error
    return _error_response(*status_and_code, str(error))


def _error_response(status: int, code: str, text: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    names = ("message", "detail", "description", "error_detail")
    return JSONResponse({"error": code, "error_code": code, **dict.fromkeys(names, text)}, status, dict(headers or {}))


def _new_artifact_id() -> str:
    return f"art_{secrets.token_hex(12)}"
