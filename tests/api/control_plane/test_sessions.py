"""Sessions over /api/v1: create, list, end."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.api.control_plane.clients import TEMPLATE, ControlPlaneClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

SESSIONS = "/api/v1/sessions"
FIELDS = [
    "id",
    "template_id",
    "status",
    "resource_limit",
    "workspace_path",
    "language_runtime",
    "runtime_type",
    "runtime_node",
    "container_id",
    "pod_name",
    "env_vars",
    "timeout",
    "python_package_index_url",
    "requested_dependencies",
    "installed_dependencies",
    "dependency_install_status",
    "dependency_install_error",
    "dependency_install_started_at",
    "dependency_install_completed_at",
    "created_at",
    "updated_at",
    "completed_at",
    "last_activity_at",
]


@pytest.mark.requirement("control_plane-1.05", "control_plane-1.24")
async def test_a_session_is_made_with_every_field_of_the_protocol(client: ControlPlaneClient) -> None:
    made = await client.session(timeout=120, env_vars={"A": "b"})
    assert set(FIELDS) <= set(made)
    assert made["status"] == "running" and made["template_id"] == TEMPLATE and made["timeout"] == 120
    assert made["resource_limit"] == {"cpu": "1", "memory": "512Mi", "disk": "1Gi", "max_processes": 128}
    assert made["workspace_path"] == "/workspace" and made["env_vars"] == {"A": "b"} and made["runtime_node"] == "node-1"


@pytest.mark.requirement("control_plane-3.03")
async def test_ids_have_the_form_that_clients_know(client: ControlPlaneClient) -> None:
    made = await client.session()
    assert re.fullmatch(r"sess_\d{8}_[0-9a-f]{8,}", made["id"])
    execution = await client.submit(made["id"], "print(1)")
    assert re.fullmatch(r"exec_\d{14}_[0-9a-f]{8,}", execution)


@pytest.mark.requirement("control_plane-2.02")
async def test_resources_can_be_asked_for_in_either_form(client: ControlPlaneClient) -> None:
    plain = await client.session(cpu="0.5", memory="256Mi", disk="300Mi")
    assert plain["resource_limit"] == {"cpu": "0.5", "memory": "256Mi", "disk": "300Mi", "max_processes": 128}
    whole = await client.session(cpu="2", resources={"cpu": "1", "memory": "1Gi", "max_processes": 64})
    assert whole["resources"] == {"cpu": "1", "memory": "1Gi", "disk": "1Gi", "max_processes": 64}


@pytest.mark.requirement("control_plane-2.03")
async def test_a_persistent_session_of_an_agent_is_given_again(client: ControlPlaneClient) -> None:
    first = await client.session(mode="persistent", agent_id="agent-1")
    second = await client.session(mode="persistent", agent_id="agent-1")
    assert first["id"] == second["id"] and first["mode"] == "persistent" and first["agent_id"] == "agent-1"
    other = await client.session(mode="persistent", agent_id="agent-2")
    assert other["id"] != first["id"]


@pytest.mark.requirement("control_plane-1.23")
@pytest.mark.parametrize(
    "fields",
    [
        {"timeout": 0},
        {"timeout": 3601},
        {"cpu": "many"},
        {"cpu": "500m"},
        {"memory": "plenty"},
        {"disk": "-1Gi"},
        {"id": ""},
        {"id": "x" * 65},
        {"template_id": "x" * 65},
        {"template_id": None},
        {"install_timeout": 29},
        {"install_timeout": 1801},
        {"dependencies": [{"name": "a"}] * 51},
        {"dependencies": [{"name": "a" * 101}]},
        {"python_package_index_url": "https://" + "x" * 512},
        {"mode": "eternal"},
        {"resources": {"max_processes": 31}},
        {"resources": {"max_processes": 1025}},
    ],
)
async def test_fields_out_of_bounds_are_refused(client: ControlPlaneClient, fields: dict[str, Any]) -> None:
    answer = await client.post(SESSIONS, json={"template_id": TEMPLATE, **fields})
    assert answer.status_code == 422 and answer.json()["error_code"] == "Sandbox.InvalidParameter"
    assert answer.json()["detail"][0]["loc"][0] == "body"


@pytest.mark.requirement("control_plane-1.05", "control_plane-1.26")
@pytest.mark.parametrize(
    "fields",
    [
        {"template_id": "no-such"},
        {"memory": "900Gi"},
        {"id": "../../etc"},
        {"id": "a b"},
        {"env_vars": {"A=B": "c"}},
        {"env_vars": {f"K{n}": "v" for n in range(65)}},
        {"env_vars": {"K": "v" * 11_000}},
        {"dependencies": [{"name": "../evil"}]},
        {"dependencies": [{"name": "pandas2.3.3"}]},
        {"dependencies": [{"name": "https://example.org/x"}]},
    ],
)
async def test_what_cannot_be_made_is_400_and_says_why(client: ControlPlaneClient, fields: dict[str, Any]) -> None:
    answer = await client.post(SESSIONS, json={"template_id": TEMPLATE, **fields})
    assert answer.status_code == 400, answer.text
    assert answer.json()["message"] and answer.json()["detail"]


@pytest.mark.requirement("control_plane-1.05")
async def test_an_id_that_is_taken_is_409(client: ControlPlaneClient) -> None:
    made = await client.session(id="mine-1")
    assert made["id"] == "mine-1"
    answer = await client.post(SESSIONS, json={"template_id": TEMPLATE, "id": "mine-1"})
    assert answer.status_code == 409 and answer.json()["error"] == "Conflict"


@pytest.mark.requirement("control_plane-1.06", "control_plane-2.01")
async def test_sessions_are_listed_in_both_shapes(client: ControlPlaneClient) -> None:
    made = await client.session()
    whole = (await client.get(SESSIONS, params={"limit": 1})).json()
    assert whole["items"] == whole["sessions"] and whole["items"][0]["id"] == made["id"]
    assert whole["limit"] == 1 and whole["offset"] == 0 and whole["has_more"] and whole["total"] > 1
    assert (await client.get(SESSIONS, params={"limit": 100_000})).json()["limit"] == 200
    assert (await client.get(SESSIONS, params={"limit": 0})).json()["limit"] == 1
    assert (await client.get(SESSIONS, params={"template_id": "no-such"})).json()["total"] == 0
    assert (await client.get(SESSIONS, params={"status": "running"})).json()["total"] > 0
    assert (await client.get(SESSIONS, params={"status": "asleep"})).status_code == 422


@pytest.mark.requirement("control_plane-1.07", "control_plane-1.26")
async def test_a_session_that_is_not_there_is_404_in_both_shapes(client: ControlPlaneClient) -> None:
    answer = await client.get(f"{SESSIONS}/sess_20260101_00000000")
    body = answer.json()
    assert answer.status_code == 404 and body["error"] == "Not Found" and body["message"] and body["detail"]
    assert body["error_code"] == "Sandbox.SessionNotFound" and body["description"] and "error_detail" in body


@pytest.mark.requirement("control_plane-1.09", "control_plane-3.01")
async def test_a_terminated_session_is_still_known_and_runs_nothing(client: ControlPlaneClient) -> None:
    made = await client.session()
    ended = (await client.post(f"{SESSIONS}/{made['id']}/terminate")).json()
    assert ended["status"] == "terminated" and ended["completed_at"]
    assert (await client.get(f"{SESSIONS}/{made['id']}")).json()["status"] == "terminated"
    path = f"/api/v1/executions/sessions/{made['id']}/execute"
    refused = await client.post(path, json={"code": "print(1)", "language": "python"})
    assert refused.status_code == 409 and refused.json()["error"] == "Conflict"


@pytest.mark.requirement("control_plane-1.10")
async def test_a_deleted_session_is_gone_with_its_executions(client: ControlPlaneClient) -> None:
    made = await client.session()
    execution = (await client.run(made["id"], "print(1)"))["id"]
    answer = await client.delete(f"{SESSIONS}/{made['id']}")
    assert answer.status_code == 204 and answer.content == b""
    assert (await client.get(f"{SESSIONS}/{made['id']}")).status_code == 404
    assert (await client.get(f"/api/v1/executions/{execution}/result")).status_code == 404
    assert (await client.delete(f"{SESSIONS}/{made['id']}")).status_code == 404


@pytest.mark.requirement("control_plane-1.08")
async def test_packages_need_the_network_and_say_so(client: ControlPlaneClient) -> None:
    made = await client.session()
    path = f"{SESSIONS}/{made['id']}/dependencies/install"
    answer = await client.post(path, json={"dependencies": [{"name": "requests", "version": "2.31.0"}]})
    assert answer.status_code >= 400 and "network" in answer.json()["message"]
    assert (await client.post(path, json={"dependencies": []})).status_code == 422
    assert (await client.post(path, json={"dependencies": [{"name": "a"}] * 51})).status_code == 422


async def test_a_session_is_paused_and_resumed_or_told_why_not(client: ControlPlaneClient) -> None:
    made = await client.session()
    paused = await client.post(f"{SESSIONS}/{made['id']}/pause")
    if paused.status_code == 501:
        assert "cannot be paused: " in paused.json()["message"]
        return
    assert (paused.status_code, paused.json()["status"]) == (200, "paused")
    path = f"/api/v1/executions/sessions/{made['id']}/execute-sync"
    refused = await client.post(path, json={"code": "print(1)", "language": "python"})
    assert refused.status_code == 409 and "resume it first" in refused.json()["message"]
    assert (await client.post(f"{SESSIONS}/{made['id']}/resume")).json()["status"] == "running"
    assert (await client.post(f"{SESSIONS}/{made['id']}/resume")).status_code == 409


async def test_a_session_says_which_network_it_has(client: ControlPlaneClient) -> None:
    assert (await client.session(network="none"))["network"] == "none"
    refused = await client.post(SESSIONS, json={"template_id": TEMPLATE, "network": "nat"})
    assert refused.status_code == 501 and "allow_network" in refused.json()["message"]
    unknown = await client.post(SESSIONS, json={"template_id": TEMPLATE, "network": "host"})
    assert unknown.status_code == 422


@pytest.mark.requirement("control_plane-1.01")
async def test_every_answer_names_its_request_and_its_time(client: ControlPlaneClient) -> None:
    named = await client.get(SESSIONS, headers={"X-Request-ID": "abc-1"})
    assert named.headers["X-Request-ID"] == "abc-1" and float(named.headers["X-Process-Time"]) >= 0
    missing = await client.get(f"{SESSIONS}/none")
    assert len(missing.headers["X-Request-ID"]) == 32
    odd = await client.get(SESSIONS, headers={"X-Request-ID": "a b;c"})
    assert odd.headers["X-Request-ID"] != "a b;c"


@pytest.mark.requirement("control_plane-1.01")
async def test_long_answers_come_packed_for_those_who_take_them_so(client: ControlPlaneClient) -> None:
    packed = await client.get(SESSIONS, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and packed.json()["items"]
    plain = await client.get(SESSIONS, headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
