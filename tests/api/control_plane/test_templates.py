"""Templates over /api/v1."""

from __future__ import annotations

from typing import Any

import pytest
from tests.api.control_plane.clients import TEMPLATE, ControlPlaneClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEMPLATES = "/api/v1/templates"
FIELDS = [
    "id",
    "name",
    "image_url",
    "runtime_type",
    "default_cpu_cores",
    "default_memory_mb",
    "default_disk_mb",
    "default_timeout_sec",
    "default_env_vars",
    "is_active",
    "created_at",
    "updated_at",
]


def template_body(key: str, **fields: Any) -> dict[str, Any]:
    return {"id": key, "name": f"Template {key}", "image_url": "registry/image:1", "runtime_type": "python3.11", **fields}


@pytest.mark.requirement("control_plane-1.15", "control_plane-1.30")
async def test_a_template_is_made_with_the_defaults_of_the_protocol(client: ControlPlaneClient) -> None:
    answer = await client.post(TEMPLATES, json=template_body("t1"))
    template = answer.json()
    assert answer.status_code == 201 and set(FIELDS) <= set(template)
    assert (template["default_cpu_cores"], template["default_memory_mb"], template["default_disk_mb"]) == (0.5, 512, 1024)
    assert template["default_timeout_sec"] == 300 and template["is_active"] and template["default_env_vars"] == {}
    assert (await client.get(f"{TEMPLATES}/t1")).json() == template


@pytest.mark.requirement("control_plane-1.15")
async def test_a_taken_id_or_name_is_409(client: ControlPlaneClient) -> None:
    await client.post(TEMPLATES, json=template_body("t2"))
    assert (await client.post(TEMPLATES, json=template_body("t2", name="Another"))).status_code == 409
    assert (await client.post(TEMPLATES, json=template_body("t2b", name="Template t2"))).status_code == 409


@pytest.mark.requirement("control_plane-1.30")
@pytest.mark.parametrize(
    "fields",
    [
        {"default_cpu_cores": 0.05},
        {"default_cpu_cores": 4.5},
        {"default_memory_mb": 127},
        {"default_memory_mb": 8193},
        {"default_disk_mb": 255},
        {"default_disk_mb": 51_201},
        {"default_timeout": 59},
        {"default_timeout": 3601},
        {"runtime_type": "cobol"},
        {"name": "x" * 256},
        {"image_url": "x" * 513},
        {"image_url": None},
    ],
)
async def test_fields_out_of_bounds_are_422(client: ControlPlaneClient, fields: dict[str, Any]) -> None:
    assert (await client.post(TEMPLATES, json=template_body("bad", **fields))).status_code == 422


@pytest.mark.requirement("control_plane-1.16", "control_plane-1.30")
async def test_a_template_is_changed_field_by_field(client: ControlPlaneClient) -> None:
    before = (await client.post(TEMPLATES, json=template_body("t3", default_env_vars={"A": "1"}))).json()
    answer = await client.put(f"{TEMPLATES}/t3", json={"default_memory_mb": 1024, "id": "t9", "runtime_type": "go1.21"})
    after = answer.json()
    assert answer.status_code == 200 and after["default_memory_mb"] == 1024
    assert {**after, "default_memory_mb": 512, "updated_at": 0, "default_resources": 0} == {
        **before,
        "updated_at": 0,
        "default_resources": 0,
    }
    assert (await client.put(f"{TEMPLATES}/none", json={"name": "x"})).status_code == 404


@pytest.mark.requirement("control_plane-1.15")
async def test_templates_are_a_bare_list_with_the_seeded_one(client: ControlPlaneClient) -> None:
    templates = (await client.get(TEMPLATES)).json()
    seeded = next(template for template in templates if template["id"] == TEMPLATE)
    assert (seeded["default_cpu_cores"], seeded["default_memory_mb"], seeded["default_disk_mb"]) == (1, 512, 1024)
    assert seeded["default_timeout_sec"] == 300
    assert len((await client.get(TEMPLATES, params={"limit": 1})).json()) == 1


@pytest.mark.requirement("control_plane-2.09")
async def test_the_design_s_names_are_taken_and_told(client: ControlPlaneClient) -> None:
    body = {"id": "t4", "name": "T4", "image": "registry/x", "base_image": "debian", "pre_installed_packages": ["numpy"]}
    template = (await client.post(TEMPLATES, json={**body, "security_context": {"user": 1000}})).json()
    assert template["image"] == template["image_url"] == "registry/x" and template["pre_installed_packages"] == ["numpy"]
    assert template["base_image"] == "debian" and template["security_context"] == {"user": 1000}
    assert template["default_resources"]["memory"] == "512Mi"


@pytest.mark.requirement("control_plane-1.17", "control_plane-2.08")
async def test_a_template_in_use_stays_until_its_sessions_end(client: ControlPlaneClient) -> None:
    await client.post(TEMPLATES, json=template_body("t5"))
    session = await client.session(template_id="t5")
    assert (await client.delete(f"{TEMPLATES}/t5")).status_code == 400
    await client.post(f"/api/v1/sessions/{session['id']}/terminate")
    answer = await client.delete(f"{TEMPLATES}/t5")
    assert answer.status_code == 200 and answer.json()["message"]
    assert (await client.get(f"{TEMPLATES}/t5")).status_code == 404


async def test_what_a_template_says_holds_for_its_sessions(client: ControlPlaneClient) -> None:
    await client.post(
        TEMPLATES, json=template_body("t6", default_env_vars={"GIVEN": "yes"}, default_memory_mb=256, default_timeout=77)
    )
    session = await client.session(template_id="t6")
    assert session["resource_limit"]["memory"] == "256Mi" and session["timeout"] == 77
    assert (await client.run(session["id"], "echo $GIVEN", "shell"))["stdout"] == "yes\n"
