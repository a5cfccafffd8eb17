from __future__ import annotations

import re

import pytest
from tests.api.sandboxes.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.requirement("sandboxes-6.02", "sandboxes-7.01", "sandboxes-7.02")
async def test_a_sandbox_is_made_told_changed_and_ended(ann: Api) -> None:
    request_body = {
        "name": "mine",
        "image": "python:3.11-slim",
        "resources": {"cpu_limit": "0.5", "memory_limit": "256M", "disk_limit": "64M"},
        "environment": {"A": "1"},
        "metadata": {"team": "blue", "tags": [1, None]},
        "ttl": 600,
    }
    created = await ann.request_json("POST", "/api/v1/sandboxes", 201, json=request_body)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", created["id"])
    assert created["container_id"] == f"sandbox-{created['id'][:8]}"
    assert (created["name"], created["image"], created["status"], created["state"]) == (
        "mine",
        "python:3.11-slim",
        "running",
        "ready",
    )
    assert created["resources"] == {"cpu_limit": "0.5", "memory_limit": 256 * 1024**2, "disk_limit": 64 * 1024**2}
    assert created["metadata"] == {"team": "blue", "tags": [1, None]} and created["expires_at"] > created["created_at"]
    path = f"/api/v1/sandboxes/{created['id']}"
    changed = await ann.request_json("PATCH", path, json={"name": "ours", "environment": {"B": "2"}})
    assert (changed["name"], changed["environment"]["B"], changed["metadata"]["team"]) == ("ours", "2", "blue")
    ran = await ann.request_json("POST", f"{path}/exec", json={"command": 'sh -c "echo $A$B"'})
    assert ran["stdout"].strip() == "2"  # PATCH replaces the whole environment
    replaced = await ann.request_json("PUT", path, json={"name": "theirs"})
    assert (replaced["name"], replaced["metadata"], replaced["environment"]) == ("theirs", {}, {})
    assert (await ann.request("DELETE", path)).status_code == 204
    assert (await ann.request_json("GET", path))["status"] == "terminated"
    assert (await ann.request("DELETE", path)).status_code == 204
    await ann.request_error("PATCH", path, 409, json={"name": "late"})
    await ann.request_error("POST", f"{path}/exec", 409, json={"command": "true"})
    await ann.request_error("POST", f"{path}/start", 409)


@pytest.mark.requirement("sandboxes-6.03", "sandboxes-7.01")
async def test_stopping_ends_what_runs_and_keeps_the_files(ann: Api) -> None:
    path = f"/api/v2/sandboxes/{await ann.sandbox()}"
    await ann.request_json("PUT", f"{path}/files/kept.txt", content=b"kept")
    started = await ann.request_json("POST", f"{path}/exec", 202, json={"command": "sleep 300", "timeout": 400, "stream": True})
    assert (await ann.request_json("GET", path))["state"] == "running"
    stopped = await ann.request_json("POST", f"{path}/stop")
    assert (stopped["status"], stopped["state"]) == ("stopped", "stopped")
    assert (await ann.request_json("GET", f"{path}/logs"))["data"][0]["status"] == "cancelled"
    await ann.request_error("POST", f"{path}/exec", 409, json={"command": "true"})
    assert (await ann.request_json("POST", f"{path}/stop"))["status"] == "stopped"
    assert (await ann.request_json("POST", f"{path}/start"))["state"] == "ready"
    assert (await ann.request_json("POST", f"{path}/exec", json={"command": "cat kept.txt"}))["stdout"] == "kept"
    again = await ann.request_json("POST", f"{path}/restart")
    assert again["state"] == "ready" and started["stream_id"]


@pytest.mark.requirement("sandboxes-6.01")
async def test_the_version_is_that_of_the_path_the_header_or_accept(ann: Api) -> None:
    sandbox = await ann.sandbox()
    vendor = "application/vnd.sandboxrunner.v2+json"
    for path, headers, status in [
        ("/api/v2", {}, 200),
        ("/api/v1", {}, 404),
        ("/api/v1", {"API-Version": "v2"}, 404),
        ("/api", {}, 404),
        ("/api", {"API-Version": "v2"}, 200),
        ("/api", {"API-Version": "2"}, 200),
        ("/api", {"API-Version": "v3"}, 400),
        ("/api", {"API-Version": "x" * 3000}, 400),
        ("/api", {"Accept": vendor}, 200),
        ("/api", {"Accept": "application/vnd.sandboxrunner.v9+json"}, 400),
    ]:
        answer = await ann.get(f"{path}/sandboxes/{sandbox}/metrics", headers=headers)
        assert answer.status_code == status, (path, headers, answer.text)
    answer = await ann.get(f"/api/sandboxes/{sandbox}", headers={"Accept": vendor})
    assert answer.headers["content-type"] == vendor and answer.headers["api-version"] == "v2"
    assert (await ann.request_json("GET", "/api/openapi.json"))["paths"]["/api/v2/sandboxes"]
    assert "openapi.json" in (await ann.get("/api/docs")).text


@pytest.mark.requirement("sandboxes-6.07")
async def test_lists_are_paged_sorted_and_filtered(bob: Api) -> None:
    for name in ("b", "c", "a"):
        await bob.sandbox(name=name, image=f"image-{name}")
    first = await bob.request_json("GET", "/api/v1/sandboxes", params={"page_size": 2})
    assert [item["name"] for item in first["data"]] == ["a", "c"] and first["total"] == 3 and first["version"] == "v1"
    assert first["pagination"] == {"page_size": 2, "page_offset": 0, "has_next": True, "has_prev": False, "next_offset": 2}
    second = await bob.request_json("GET", "/api/v1/sandboxes", params={"page_size": 2, "page_offset": 2})
    assert [item["name"] for item in second["data"]] == ["b"]
    assert second["pagination"] == {"page_size": 2, "page_offset": 2, "has_next": False, "has_prev": True, "prev_offset": 0}
    named = await bob.request_json("GET", "/api/v1/sandboxes", params={"sort_by": "name", "sort_order": "asc"})
    assert [item["name"] for item in named["data"]] == ["a", "b", "c"]
    await bob.request_json("POST", f"/api/v1/sandboxes/{named['data'][0]['id']}/stop")
    for query, names in [
        ({"filter_status": "stopped"}, ["a"]),
        ({"filter_status": "paused"}, []),
        ({"filter_status": "running"}, ["c", "b"]),
        ({"filter_image": "image-c"}, ["c"]),
        ({"filter_name": "b"}, ["b"]),
        ({"filter_status": "error"}, []),
    ]:
        results = await bob.request_json("GET", "/api/v1/sandboxes", params=query)
        assert [item["name"] for item in results["data"]] == names, query
    for query in [
        {"page_size": 0},
        {"page_size": 101},
        {"page_offset": -1},
        {"sort_by": "secret"},
        {"sort_order": "up"},
        {"filter_owner": "ann"},
        {"filter_status": "odd"},
    ]:
        await bob.request_error("GET", "/api/v1/sandboxes", 400, params=query)


@pytest.mark.requirement("sandboxes-6.06")
async def test_a_batch_tells_of_each_sandbox_in_order(ann: Api) -> None:
    first, second = await ann.sandbox(), await ann.sandbox()
    body = {"action": "exec", "sandbox_ids": [first, "nobody", second], "parameters": {"command": "echo hi"}}
    all_of_it = await ann.request_json("POST", "/api/v2/sandboxes:batch", json={**body, "options": {"continue_on_error": True}})
    assert [item["success"] for item in all_of_it["results"]] == [True, False, True]
    assert all_of_it["results"][0]["result"]["stdout"] == "hi\n" and all_of_it["results"][1]["error"]["code"] == 404
    assert all_of_it["summary"] == {"total": 3, "succeeded": 2, "failed": 1}
    stopped = await ann.request_json("POST", "/api/v2/sandboxes:batch", json={**body, "options": {"max_concurrency": 1}})
    assert [item["success"] for item in stopped["results"]] == [True, False, False]
    assert "not started" in stopped["results"][2]["error"]["message"]
    ended = await ann.request_json("POST", "/api/v2/sandboxes:batch", json={"action": "delete", "sandbox_ids": [first, second]})
    assert [item["result"]["status"] for item in ended["results"]] == ["terminated", "terminated"]
    for wrong in [
        {"action": "explode", "sandbox_ids": []},
        {"action": "exec", "sandbox_ids": [first]},
        {"action": "stop", "sandbox_ids": [first], "parameters": {"now": True}},
        {"action": "stop", "sandbox_ids": ["x"] * 101},
    ]:
        await ann.request_error("POST", "/api/v2/sandboxes:batch", 400, json=wrong)
    assert (await ann.post("/api/v1/sandboxes:batch", json=body)).status_code == 404


@pytest.mark.requirement("sandboxes-6.06")
async def test_a_batch_that_runs_out_of_time_leaves_nothing_running(ann: Api) -> None:
    sandbox = await ann.sandbox()
    parameters = {"command": "sleep 300", "timeout": 400}
    body = {"action": "exec", "sandbox_ids": [sandbox], "parameters": parameters, "options": {"timeout": 0.5}}
    result = await ann.request_json("POST", "/api/v2/sandboxes:batch", json=body)
    assert result["results"][0]["error"]["code"] == 408
    assert (await ann.request_json("GET", f"/api/v2/sandboxes/{sandbox}/logs"))["data"][0]["status"] == "cancelled"


@pytest.mark.requirement("sandboxes-6.09")
async def test_tools_are_told_as_missing_where_nobody_offers_them(ann: Api) -> None:
    for path in ("/tools", "/tools/run_code", "/resources", "/resources/config://server", "/prompts", "/prompts/x"):
        await ann.request_error("GET", f"/api/v1{path}", 501)
    await ann.request_error("POST", "/api/v1/tools/run_code/execute", 501, json={"arguments": {}})
