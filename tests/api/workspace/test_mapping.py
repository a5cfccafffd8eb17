"""Mapping of requests: sizes, names, defaults of the settings."""

from __future__ import annotations

import pytest

from sandbox_runtime.api.dialects.workspace.mapping.requests import file_path, relative_path, script_path, session_spec
from sandbox_runtime.api.dialects.workspace.schemas import ScriptRequest, WorkspaceSessionRequest
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Resources
from sandbox_runtime.model.limits import GIB, KIB, MIB
from sandbox_runtime.settings import Settings


@pytest.mark.parametrize(
    ("text", "size"),
    [("100M", 100 * MIB), ("50m", 50 * MIB), ("1G", GIB), ("2 GiB", 2 * GIB), ("64k", 64 * KIB), ("70000", 70000)],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert _resources(WorkspaceSessionRequest(size=text)).disk_bytes == size


def test_a_memory_limit_is_kilobytes_or_a_size() -> None:
    for limit in (131_072, "128M"):
        assert _resources(WorkspaceSessionRequest(memory_limit=limit)).memory_bytes == 128 * MIB


@pytest.mark.parametrize(("path", "name"), [("/a//b/./c", "a/b/c"), ("", ""), (".", "."), ("///", ""), ("a b/ü", "a b/ü")])
def test_paths_are_below_the_workspace(path: str, name: str) -> None:
    assert relative_path(path) == name


@pytest.mark.parametrize("path", ["..", "a/..", "/../x", "a/../../b", "a\0b"])
def test_paths_that_lead_out_are_refused(path: str) -> None:
    with pytest.raises(InvalidRequest):
        relative_path(path)


@pytest.mark.parametrize("path", ["", ".", "/", "a/", "./"])
def test_a_folder_is_no_file(path: str) -> None:
    with pytest.raises(InvalidRequest):
        file_path(path)


@pytest.mark.parametrize(
    ("given", "kind", "name"), [("a", "python", "a.py"), ("a.py", "python", "a.py"), ("/x/a.py", "shell", "x/a.py.sh")]
)
def test_scripts_get_their_extension(given: str, kind: str, name: str) -> None:
    assert script_path(ScriptRequest(code="", filename=given, script_type=kind)) == name


@pytest.mark.requirement("workspace-4.01", "workspace-4.02")
def test_a_session_is_as_the_settings_say_where_the_request_says_nothing() -> None:
    settings = Settings(cpu_quota=1.5, memory_limit=65_536, timeout_seconds=42, workspace_expiration_time=77, process_limit=20)
    spec, resources = session_spec("s", WorkspaceSessionRequest(), settings), _resources(WorkspaceSessionRequest(), settings)
    assert (resources.cpu_cores, resources.memory_bytes, resources.processes) == (1.5, 64 * MIB, 20)
    assert (spec.timeout_s, spec.idle_timeout_s) == (42, 77)


def test_a_session_never_has_more_network_than_it_asked_for() -> None:
    for request_body, network in ((None, ""), (True, "nat"), (False, "none")):
        assert (
            session_spec("s", WorkspaceSessionRequest(allow_network=request_body), Settings(allow_network=True)).network
            == network
        )


def _resources(request: WorkspaceSessionRequest, settings: Settings | None = None) -> Resources:
    resources = session_spec("s", request, settings or Settings()).resources
    assert resources is not None
    return resources
