"""Boxes as containers, nodes as runtimes, and health over /api/v1."""

from __future__ import annotations

import pytest
from tests.api.control_plane.clients import TEMPLATE, ControlPlaneClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

INFO = [
    "container_id",
    "pod_name",
    "runtime_type",
    "status",
    "session_id",
    "template_id",
    "node_name",
    "resources",
    "created_at",
    "uptime_seconds",
]
RESPONSE = [
    "id",
    "session_id",
    "runtime_type",
    "node_id",
    "container_name",
    "image_url",
    "status",
    "ip_address",
    "cpu_cores",
    "memory_mb",
    "disk_mb",
    "created_at",
    "started_at",
    "exited_at",
]


@pytest.mark.requirement("control_plane-2.10")
async def test_the_box_of_a_session_is_a_container_in_both_shapes(client: ControlPlaneClient) -> None:
    session = await client.session()
    whole = (await client.get("/api/v1/containers", params={"status": "running"})).json()
    container = next(entry for entry in whole["containers"] if entry["session_id"] == session["id"])
    assert set(INFO) <= set(container) and set(RESPONSE) <= set(container)
    assert container["container_id"] == session["container_id"] and container["template_id"] == TEMPLATE
    assert container["memory_mb"] == 512 and container["uptime_seconds"] >= 0 and container["status"] == "running"
    for name in (container["container_id"], container["container_name"]):
        assert (await client.get(f"/api/v1/containers/{name}")).json()["session_id"] == session["id"]
    assert (await client.get("/api/v1/containers/none")).status_code == 404


@pytest.mark.requirement("control_plane-2.10")
async def test_containers_are_found_by_status_and_kind(client: ControlPlaneClient) -> None:
    session = await client.session()
    await client.post(f"/api/v1/sessions/{session['id']}/terminate")
    gone = (await client.get("/api/v1/containers", params={"status": "exited"})).json()["containers"]
    assert session["id"] in [entry["session_id"] for entry in gone]
    kind = client.platform.backend.name
    assert (await client.get("/api/v1/containers", params={"runtime_type": kind})).json()["containers"]
    assert (await client.get("/api/v1/containers", params={"runtime_type": "kubernetes"})).json()["containers"] == []
    assert (await client.get("/api/v1/containers", params={"status": "melting"})).status_code == 422
    assert (await client.get("/api/v1/containers", params={"limit": 1000})).json()["limit"] == 200


@pytest.mark.requirement("control_plane-2.10")
async def test_the_log_of_a_container_is_what_its_executions_printed(client: ControlPlaneClient) -> None:
    session = await client.session()
    for n in range(3):
        await client.run(session["id"], f"print('line {n}')")
    path = f"/api/v1/containers/{session['container_id']}/logs"
    answer = await client.get(path)
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert [line for line in answer.text.splitlines() if not line.startswith("---")] == ["line 0", "line 1", "line 2"]
    assert (await client.get(path, params={"tail": 1})).text == "line 2\n"
    assert (await client.get(path, params={"since": 4_000_000_000})).text == ""


@pytest.mark.requirement("control_plane-2.11")
async def test_this_machine_is_a_healthy_runtime(client: ControlPlaneClient) -> None:
    await client.session()
    whole = (await client.get("/api/v1/runtimes")).json()
    node = next(container for container in whole["runtimes"] if container["id"] == "node-1")
    wanted = "id type url status cpu_usage mem_usage session_count max_sessions cached_templates last_heartbeat failure_count"
    assert set(wanted.split()) <= set(node)
    assert node["status"] == "healthy" and node["session_count"] > 0 and 0 <= node["mem_usage"] <= 1
    health = (await client.get("/api/v1/runtimes/node-1/health")).json()
    assert health["healthy"] and health["status"] == "healthy"
    metrics = (await client.get("/api/v1/runtimes/node-1/metrics")).json()
    assert metrics["session_count"] > 0 and "cpu_usage" in metrics
    for name in ("", "/health", "/metrics"):
        assert (await client.get(f"/api/v1/runtimes/none{name}")).status_code == 404


@pytest.mark.requirement("control_plane-2.13")
async def test_the_addresses_of_a_runtime_node_have_the_same_verbs(client: ControlPlaneClient) -> None:
    made = (await client.post("/runtime/sessions", json={"template_id": TEMPLATE})).json()
    answer = await client.post(f"/runtime/sessions/{made['id']}/execute", json={"code": "print(1)", "language": "python"})
    assert answer.status_code == 200 and answer.json()["execution_id"]
    assert (await client.get(f"/runtime/sessions/{made['id']}/status")).json()["status"] == "running"
    assert (await client.delete(f"/runtime/sessions/{made['id']}")).status_code == 204
    assert (await client.get("/runtime/health")).json()["healthy"]
    assert (await client.get("/runtime/metrics")).json()["id"] == "node-1"


@pytest.mark.requirement("control_plane-1.02", "control_plane-1.03", "control_plane-1.04")
async def test_health_is_told_shortly_and_in_detail(client: ControlPlaneClient) -> None:
    short = (await client.get("/api/v1/health")).json()
    assert set(short) == {"status", "version", "uptime"} and short["status"] == "healthy" and short["uptime"] >= 0
    whole = (await client.get("/api/v1/health/detailed")).json()
    assert set(whole["dependencies"]) == {"database", "storage", "runtime_nodes"}
    assert all(dependency["status"] == "healthy" for dependency in whole["dependencies"].values())
    synced = (await client.post("/api/v1/health/sync")).json()
    assert synced["status"] == "completed" and synced["message"] and isinstance(synced["result"], dict)
    about = (await client.get("/api/v1/")).json()
    assert set(about) == {"name", "version", "status", "features", "documentation"} and about["status"] == "operational"


async def test_changes_are_found_in_the_audit(client: ControlPlaneClient) -> None:
    session = await client.session()
    await client.put(f"/api/v1/sessions/{session['id']}/files/f.txt", content=b"x")
    await client.post(f"/api/v1/sessions/{session['id']}/terminate")
    entries = (await client.get("/api/v1/audit", params={"subject": session["id"]})).json()["items"]
    assert [entry["action"] for entry in entries] == ["terminated", "change files", "create"]
    assert all(entry["kind"] == "session" and entry["at"] for entry in entries)


@pytest.mark.requirement("control_plane-4.01")
async def test_metrics_have_the_names_that_operators_know(client: ControlPlaneClient) -> None:
    await client.run((await client.session())["id"], "print(1)")
    text = (await client.get("/metrics")).text
    for name in (
        "sandbox_sessions_total",
        "sandbox_sessions_active",
        "sandbox_executions_total",
        "sandbox_execution_duration_seconds",
        "sandbox_warm_pool_size",
        "sandbox_runtime_cpu_usage",
        "sandbox_runtime_memory_usage",
        "sandbox_cold_start_duration",
        "sandbox_warm_start_duration",
        "sandbox_failure_rate",
        "sandbox_timeout_rate",
    ):
        assert f"\n{name}" in text, name
