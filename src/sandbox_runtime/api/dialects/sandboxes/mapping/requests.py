"""Map request bodies to session and execution specs. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import posixpath
import re
import shlex
import uuid
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.api.dialects.sandboxes.schemas.executions import CodeRequest, ExecRequest
from sandbox_runtime.api.dialects.sandboxes.schemas.files import MAX_FILE_BYTES
from sandbox_runtime.api.dialects.sandboxes.schemas.sandboxes import CreateSandboxRequest, SandboxResourcesRequest
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.detection import detect_language
from sandbox_runtime.model import Dependency, ExecutionKind, Resources
from sandbox_runtime.quantities import parse_bytes, parse_cpu
from sandbox_runtime.sessions.specs import ExecutionSpec, SessionSpec

WORKSPACE = "/workspace"
DEFAULT_IMAGE = "ubuntu:22.04"
_ROOTS = (WORKSPACE, "/tmp")
_ENV = "/usr/bin/env"
_NETWORK = {None: "", "none": "none", "bridge": "nat", "host": "nat"}
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9._,-]+\])?)\s*((?:[<>=!~]=?|===).*)?")
_SHELL_NAMES = frozenset({"sh", "shell"})
"""Names by which the protocol's clients request Bash. Results have the language bash."""


def session_spec(body: CreateSandboxRequest, defaults: Resources) -> SessionSpec:
    return SessionSpec(
        id=str(uuid.uuid4()),
        template=body.template,
        resources=to_resources(body.resources, defaults),
        env=body.environment,
        lifetime_s=body.ttl,
        network=_NETWORK[body.network_mode],
        about_json=to_about_json({"name": body.name, "image": body.image or DEFAULT_IMAGE, "metadata": body.metadata}),
    )


def to_resources(body: SandboxResourcesRequest, defaults: Resources) -> Resources | None:
    """Return the resources, or None if the request has none of them and those of the template apply."""
    cpu, memory, disk = body.cpu_limit, body.memory_limit, body.disk_limit
    if cpu is None and memory is None and disk is None:
        return None
    return Resources(
        cpu_cores=defaults.cpu_cores if cpu is None else parse_cpu(cpu, "cpu_limit"),
        memory_bytes=defaults.memory_bytes if memory is None else parse_bytes(memory, "memory_limit"),
        disk_bytes=defaults.disk_bytes if disk is None else parse_bytes(disk, "disk_limit"),
        processes=defaults.processes,
    )


def to_about_json(about: Mapping[str, Any]) -> str:
    return json.dumps(about, separators=(",", ":"))


def exec_spec(body: ExecRequest) -> ExecutionSpec:
    """Return the spec that starts a program with its arguments in a folder, without a shell."""
    words = (body.command, *body.args) if body.args is not None else split_command(body.command)
    return ExecutionSpec(
        code=_ENV,
        args=("-C", working_folder(body.working_dir), *words),
        kind=ExecutionKind.command,
        language="shell",
        stdin=body.input,
        env=body.environment,
        timeout_s=body.timeout,
    )


def split_command(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise InvalidRequest(f"the command cannot be split into words: {error}; send args instead") from error
    if not words or not words[0]:
        raise InvalidRequest("the command is empty: name a program to start")
    return words


def code_spec(body: CodeRequest) -> ExecutionSpec:
    language = program_language(body)
    if not body.code.strip():
        raise InvalidRequest("the code is blank: send a program")
    if body.filename and language != "python":
        raise InvalidRequest("filename is supported for Python only; omit it or upload the file")
    return ExecutionSpec(
        code=body.code,
        language=language,
        filename=workspace_path(body.filename) if body.filename else "",
        stdin=body.input,
        env=body.environment,
        timeout_s=body.timeout,
    )


def program_language(body: CodeRequest) -> str:
    """Return the language of the request, or the one detected from the code."""
    name = (body.language or detect_language(body.code)).lower()
    return "bash" if name in _SHELL_NAMES else name


def to_dependencies(body: CodeRequest) -> list[Dependency]:
    """Return the packages of a Python program."""
    return [_to_dependency(text) for text in body.packages]


def _to_dependency(text: str) -> Dependency:
    match = _REQUIREMENT.fullmatch(text.strip())
    if match is None:
        raise InvalidRequest(f"invalid package {text[:60]!r}: write it as requests or requests==2.32.3")
    return Dependency(match[1], (match[2] or "").strip())


def working_folder(path: str) -> str:
    """Return an absolute folder under /workspace or /tmp."""
    absolute = posixpath.normpath(posixpath.join(WORKSPACE, path))
    if "\0" in absolute or not any(absolute == root or absolute.startswith(f"{root}/") for root in _ROOTS):
        raise InvalidRequest(f"working_dir must be under {WORKSPACE} or /tmp, not {path[:200]!r}")
    return absolute


def workspace_path(path: str) -> str:
    """Return the path relative to the workspace. Paths that lead out of it are refused later, when the file is accessed."""
    relative = path.removeprefix(WORKSPACE) if path == WORKSPACE or path.startswith(f"{WORKSPACE}/") else path
    return relative.strip("/")


def decode_content(text: str, encoding: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True) if encoding == "base64" else text.encode()
    except (binascii.Error, UnicodeEncodeError, ValueError) as error:
        raise InvalidRequest(f"the content is not {encoding}: {error}") from error
    if len(content) > MAX_FILE_BYTES:
        raise InvalidRequest(f"the content has more than {MAX_FILE_BYTES} bytes: send it as the raw body of a PUT instead")
    return content


def parse_mode(permissions: str | None) -> int:
    return 0o644 if permissions is None else int(permissions, 8)
