"""Resolves what a session or execution requests: limits, network, time, and the request to the engine. Pure."""

from __future__ import annotations

import uuid

from sandbox_runtime.engine.environments import RunRequest
from sandbox_runtime.engine.handlers import HandlerContext, timeout_s
from sandbox_runtime.engine.handlers.rules import TIMEOUT_KEY
from sandbox_runtime.engine.terminals import Terminal
from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.model import ExecutionKind, Limits, Resources, Session, Template
from sandbox_runtime.quantities import show_amount, show_number
from sandbox_runtime.sessions.options import SessionOptions
from sandbox_runtime.sessions.specs import ExecutionSpec


def check_resources(resources: Resources, options: SessionOptions) -> None:
    """Raise InvalidRequest if resources exceed the maximum."""
    for name, maximum in (
        ("cpu_cores", options.max_cpu_cores),
        ("memory_bytes", options.max_memory_bytes),
        ("disk_bytes", options.max_disk_bytes),
        ("processes", options.max_processes),
    ):
        if getattr(resources, name) > maximum:
            requested, allowed = (show_amount(value, name) for value in (getattr(resources, name), maximum))
            raise InvalidRequest(f"{name} of a session must be at most {allowed} here, not {requested}")


def resolve_network(requested: str, options: SessionOptions) -> str:
    """Return the network of a session. Raises Unavailable if programs have none here."""
    if requested == "nat" and options.network == "none":
        raise Unavailable("programs have no network here: set allow_network (SANDBOX_ALLOW_NETWORK), or request network none")
    return requested or options.network


def resolve_timeout(session: Session, spec: ExecutionSpec, options: SessionOptions) -> float:
    """Return the time limit. The event of a handler may lower it. Raises InvalidRequest if it exceeds the maximum."""
    timeout = session.timeout_s if spec.timeout_s is None else spec.timeout_s
    if spec.kind is ExecutionKind.handler and spec.event is not None and TIMEOUT_KEY in spec.event:
        event_timeout_s = timeout_s(spec.event)
        timeout = event_timeout_s if spec.timeout_s is None else min(event_timeout_s, timeout)
    if timeout > options.max_execution_s:
        raise InvalidRequest(f"timeout must be at most {show_number(options.max_execution_s)} s, not {show_number(timeout)} s")
    return timeout


def build_limits(resources: Resources, wall_s: float, options: SessionOptions) -> Limits:
    return options.limits.replace(
        wall_s=wall_s,
        cpu_cores=resources.cpu_cores,
        memory_bytes=resources.memory_bytes,
        processes=resources.processes,
        file_bytes=resources.disk_bytes,
        disk_bytes=resources.disk_bytes,
    )


def build_run_request(
    session: Session, spec: ExecutionSpec, wall_s: float, execution: str, modules: tuple[str, ...], options: SessionOptions
) -> RunRequest:
    return RunRequest(
        kind=spec.kind,
        code=spec.code,
        language=spec.language,
        limits=build_limits(session.resources, wall_s, options),
        args=spec.args,
        stdin=None if spec.stdin is None else spec.stdin.encode(),
        env={**session.env, **spec.env},
        filename=spec.filename,
        event=spec.event or {},
        context=HandlerContext(execution, str(uuid.uuid4()), extra=tuple(spec.extra_context.items())),
        call_handler=spec.call_handler,
        variables=spec.variables,
        modules=modules,
        terminal=None if spec.terminal is None else Terminal(spec.terminal),
    )


def resolve_resources(requested: Resources | None, template: Template) -> Resources:
    return template.resources if requested is None else requested
