"""Sessions of the workspace dialect: create, status, delete, implicit creation, clean-up."""

from __future__ import annotations

import asyncio

import pytest
from tests.api.workspace.conftest import PREFIX, Workspace

from sandbox_runtime.model.limits import MIB

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.requirement("workspace-1.02")
async def test_health_in_every_form(workspace: Workspace) -> None:
    result = await workspace.request_json("GET", "/healthy")
    assert (result["status"], result["result"], result["success"], result["error"]) == ("success", "ok", True, None)


@pytest.mark.requirement("workspace-1.03")
async def test_health_of_the_server_tells_its_version(workspace: Workspace) -> None:
    result = (await workspace.get("/health")).json()
    assert result["status"] == "healthy" and result["version"]


@pytest.mark.requirement("workspace-1.01")
async def test_the_description_is_at_api_json(workspace: Workspace) -> None:
    paths = (await workspace.get("/api.json")).json()["paths"]
    assert f"{PREFIX}/execute_code/{{session_id}}" in paths and "/v2/execute_code" in paths


@pytest.mark.requirement("workspace-1.04", "workspace-1.20")
async def test_a_session_is_made_with_its_size_and_told_in_every_form(workspace: Workspace) -> None:
    result = await workspace.request_json("POST", "/session/sized", json={"size": "50M"})
    assert result["session_id"] == result["result"] == result["data"]["session_id"] == "sized"
    assert result["data"]["status"] == "active" and result["data"]["created_at"] > 1e9
    assert (await workspace.platform.sessions.get("sized")).resources.disk_bytes == 50 * MIB


@pytest.mark.requirement("workspace-1.04")
async def test_the_size_is_100m_where_none_is_given(workspace: Workspace) -> None:
    for name, body in (("bare", b""), ("empty", b"{}")):
        answer = await workspace.post(f"{PREFIX}/session/{name}", content=body)
        assert answer.status_code == 200
        assert (await workspace.platform.sessions.get(name)).resources.disk_bytes == 100 * MIB


@pytest.mark.requirement("workspace-1.20")
async def test_the_documented_fields_of_a_session_become_its_limits(workspace: Workspace) -> None:
    body = {"allow_network": False, "cpu_quota": 0.5, "memory_limit": 262_144, "timeout": 7}
    await workspace.request_json("POST", "/session/limited", json=body)
    session = await workspace.platform.sessions.get("limited")
    assert (session.resources.cpu_cores, session.resources.memory_bytes, session.timeout_s) == (0.5, 256 * MIB, 7)


async def test_a_network_that_cannot_be_had_is_refused_and_not_forgotten(workspace: Workspace) -> None:
    answer = await workspace.post(f"{PREFIX}/session/wired", json={"allow_network": True})
    assert answer.status_code == 500 and "allow_network" in answer.json()["error"]["message"]


@pytest.mark.requirement("workspace-1.04", "workspace-1.32")
async def test_a_session_that_exists_is_not_made_twice(workspace: Workspace) -> None:
    await workspace.request_json("POST", "/session/twice", json={"size": "10M"})
    await workspace.execute("twice", command="echo 5 > kept")
    answer = await workspace.post(f"{PREFIX}/session/twice", json={"size": "10M"})
    result = answer.json()
    assert answer.status_code == 500
    assert (result["detail"]["type"], result["detail"]["message"]) == ("SandboxError", "Session already exists")
    assert result["success"] is False and result["data"] is None and result["error"]["message"] == "Session already exists"
    assert (await workspace.execute("twice", command="cat kept"))["stdout"] == "5\n"


@pytest.mark.requirement("workspace-1.05")
async def test_a_session_is_deleted_with_its_files(workspace: Workspace) -> None:
    await workspace.execute("gone", command="touch here")
    result = await workspace.request_json("DELETE", "/session/gone")
    assert result["status"] == "success" and result["data"]["message"]
    assert (await workspace.request_json("GET", "/files/gone"))["files"] == []


@pytest.mark.requirement("workspace-1.05", "workspace-1.23")
async def test_what_is_not_there_cannot_be_deleted(workspace: Workspace) -> None:
    answer = await workspace.delete(f"{PREFIX}/session/never-was")
    assert answer.status_code == 404 and answer.json()["error"]["code"] == "SESSION_NOT_FOUND"


@pytest.mark.requirement("workspace-1.06", "workspace-1.16")
async def test_the_status_of_a_session_that_was_not_there_makes_it(workspace: Workspace) -> None:
    await workspace.request_json("POST", "/create/status", json={"content": "abc", "filename": "a.txt"})
    result = await workspace.request_json("GET", "/status/status")
    assert (result["id"], result["exists"], result["is_mounted"], result["mount_point"]) == ("status", True, True, "/workspace")
    assert result["created_at"] > 1e9
    (entry,) = result["files"]
    assert (entry["filename"], entry["size"], entry["type"]) == ("a.txt", 3, "file") and entry["modified_at"] > 1e9


@pytest.mark.requirement("workspace-1.16")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/status/auto-a", None),
        ("GET", "/files/auto-b", None),
        ("POST", "/execute/auto-c", {"command": "true"}),
        ("POST", "/execute_code/auto-d", {"code": "1"}),
        ("POST", "/create/auto-e", {"content": "", "filename": "x"}),
    ],
)
async def test_every_other_route_makes_the_session(workspace: Workspace, method: str, path: str, body: object) -> None:
    await workspace.request_json(method, path, json=body)
    name = path.rpartition("/")[2]
    assert name in (await workspace.request_json("GET", "/workspaces"))["workspaces"]


@pytest.mark.requirement("workspace-1.16")
async def test_a_session_that_has_ended_is_made_anew(workspace: Workspace) -> None:
    await workspace.execute("renewed", command="touch old")
    await workspace.platform.sessions.terminate("renewed")
    assert (await workspace.execute("renewed", command="ls"))["stdout"] == ""


async def test_many_who_use_a_new_name_at_once_share_one_session(workspace: Workspace) -> None:
    result = await asyncio.gather(*(workspace.execute("crowd", command=f"touch {n}; ls | wc -l") for n in range(6)))
    assert {item["exit_code"] for item in result} == {0}
    assert (await workspace.execute("crowd", command="ls | wc -l"))["stdout"].strip() == "6"


async def test_many_who_use_a_session_that_has_ended_share_the_new_one(workspace: Workspace) -> None:
    for _ in range(3):
        await workspace.execute("again", command="touch old")
        await workspace.platform.sessions.terminate("again")
        result = await asyncio.gather(*(workspace.execute("again", command=f"touch {n}") for n in range(6)))
        assert {item["exit_code"] for item in result} == {0}
        assert (await workspace.execute("again", command="ls | wc -l"))["stdout"].strip() == "6"


@pytest.mark.requirement("workspace-1.13")
async def test_workspaces_lists_what_lives(workspace: Workspace) -> None:
    await workspace.request_json("POST", "/session/listed", json={})
    result = (await workspace.request_json("GET", "/workspaces"))["workspaces"]
    assert result["listed"]["mount_point"] == "/workspace" and result["listed"]["created_at"] > 1e9


@pytest.mark.parametrize("size", ["", "many", "-1M", "100M; rm", "1e3", "9" * 16, "1M", "99999G"])
async def test_a_size_that_is_none_is_refused(workspace: Workspace, size: str) -> None:
    answer = await workspace.post(f"{PREFIX}/session/odd-size-{len(size)}", json={"size": size})
    assert answer.status_code == (200 if size == "1M" else 400), answer.text


@pytest.mark.requirement("workspace-1.14", "workspace-1.23")
async def test_cleanup_leaves_alone_what_is_busy_unless_forced(workspace: Workspace) -> None:
    await workspace.request_json("POST", "/session/idle", json={})
    busy = asyncio.create_task(workspace.post(f"{PREFIX}/execute/busy", json={"command": "touch begun; sleep 50"}))
    while not (await workspace.request_json("GET", "/files/busy"))["files"]:
        await asyncio.sleep(0.01)
    result = (await workspace.request_json("POST", "/cleanup-all", json={}))["result"]
    assert result["skipped"] == ["busy"] and result["failed"] == [] and result["success"] == result["total"] - 1 >= 1
    result = (await workspace.request_json("POST", "/cleanup-all", json={"force": True}))["result"]
    assert (result["total"], result["success"], result["skipped"]) == (1, 1, [])
    cut = await busy
    assert cut.status_code == 500 and cut.json()["error"]["code"] == "SESSION_EXPIRED"
    assert (await workspace.request_json("GET", "/workspaces"))["workspaces"] == {}
