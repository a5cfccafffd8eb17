"""From messages of this protocol to what sessions understand. Pure."""

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

from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.detection import language_of
from sandbox_runtime.model import Dependency, ExecutionKind, Resources
from sandbox_runtime.quantities import parse_bytes, parse_cpu
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec

WORKSPACE = "/workspace"
DEFAULT_IMAGE = "ubuntu:22.04"
_ROOTS = (WORKSPACE, "/tmp")
_ENV = "/usr/bin/env"
_NETWORK = {None: "", "none": "none", "bridge": "nat", "host": "nat"}
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9._,-]+\])?)\s*((?:[<>=!~]=?|===).*)?")
_SHELLS = frozenset({"sh", "shell"})


def session_spec(asked: schemas.CreateSandbox, usual: Resources) -> SessionSpec:
    return SessionSpec(
        id=str(uuid.uuid4()),
        template=asked.template,
        resources=resources_of(asked.resources, usual),
        env=asked.environment,
        lifetime_s=asked.ttl,
        network=_NETWORK[asked.network_mode],
        about_json=noted({"name": asked.name, "image": asked.image or DEFAULT_IMAGE, "metadata": asked.metadata}),
    )


def resources_of(asked: schemas.ResourcesAsked, usual: Resources) -> Resources | None:
    """None: all as the template says."""
    given = (asked.cpu_limit, asked.memory_limit, asked.disk_limit)
    if all(value is None for value in given):
        return None
    cpu, memory, disk = given
    return Resources(
        cpu_cores=usual.cpu_cores if cpu is None else parse_cpu(cpu, "cpu_limit"),
        memory_bytes=usual.memory_bytes if memory is None else parse_bytes(memory, "memory_limit"),
        disk_bytes=usual.disk_bytes if disk is None else parse_bytes(disk, "disk_limit"),
        processes=usual.processes,
    )


def noted(about: Mapping[str, Any]) -> str:
    return json.dumps(about, separators=(",", ":"))


def exec_spec(asked: schemas.Exec) -> ExecutionSpec:
    """A program and its arguments, started as they are, in that folder."""
    words = (asked.command, *asked.args) if asked.args is not None else words_of(asked.command)
    return ExecutionSpec(
        code=_ENV,
        args=("-C", folder_of(asked.working_dir), *words),
        kind=ExecutionKind.command,
        language="shell",
        stdin=asked.input,
        env=asked.environment,
        timeout_s=asked.timeout,
    )


def words_of(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise InvalidRequest(f"the command cannot be split into words: {error}; send args instead") from error
    if not words or not words[0]:
        raise InvalidRequest("the command is empty: name a program to start")
    return words


def code_spec(asked: schemas.Code) -> ExecutionSpec:
    language = spoken_language(asked)
    if not asked.code.strip():
        raise InvalidRequest("the code is blank: send a program")
    if asked.filename and language != "python":
        raise InvalidRequest("programs of Python alone are kept under a filename: leave it out, or upload a file")
    return ExecutionSpec(
        code=asked.code,
        language=language,
        filename=name_of(asked.filename) if asked.filename else "",
        stdin=asked.input,
        env=asked.environment,
        timeout_s=asked.timeout,
    )


def spoken_language(asked: schemas.Code) -> str:
    named = (asked.language or language_of(asked.code)).lower()
    return "bash" if named in _SHELLS else named


def dependencies_of(asked: schemas.Code) -> list[Dependency]:
    """Packages of Python."""
    return [_dependency(text) for text in asked.packages]


def _dependency(text: str) -> Dependency:
    found = _REQUIREMENT.fullmatch(text.strip())
    if found is None:
        raise InvalidRequest(f"{text[:60]!r} is no package: write it as requests or requests==2.32.3")
    return Dependency(found[1], (found[2] or "").strip())


def folder_of(path: str) -> str:
    """An absolute folder under /workspace or /tmp."""
    whole = posixpath.normpath(posixpath.join(WORKSPACE, path))
    if "\0" in whole or not any(whole == root or whole.startswith(f"{root}/") for root in _ROOTS):
        raise InvalidRequest(f"working_dir must be under {WORKSPACE} or /tmp, not {path[:200]!r}")
    return whole


def name_of(path: str) -> str:
    """A name below the workspace, however it is written. What leads out of it is refused where names are checked."""
    plain = path.removeprefix(WORKSPACE) if path == WORKSPACE or path.startswith(f"{WORKSPACE}/") else path
    return plain.strip("/")


def content_of(text: str, encoding: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True) if encoding == "base64" else text.encode()
    except (binascii.Error, UnicodeEncodeError, ValueError) as error:
        raise InvalidRequest(f"the content is not {encoding}: {error}") from error
    if len(content) > schemas.MOST_FILE_BYTES:
        raise InvalidRequest(f"a file has at most {schemas.MOST_FILE_BYTES} bytes this way: send it as the body of a PUT instead")
    return content


def mode_of(permissions: str | None) -> int:
    return 0o644 if permissions is None else int(permissions, 8)
