"""Full storage is 507, an exceeded quota 429, both with figures; invalid numbers are rejected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.api.control_plane.clients import TEMPLATE, ControlPlaneClient, in_process_client
from tests.api.keys import new_key

from sandbox_runtime.model import Medium, StorageKind
from sandbox_runtime.quantities import MIB
from sandbox_runtime.settings import Settings
from sandbox_runtime.workspace.ledger import Charge

CREATING = {
    "control plane": ("/api/v1/sessions", {"template_id": TEMPLATE}),
    "sandboxes": ("/api/v1/sandboxes", {}),
    "workspace": ("/workspace/se/session/full-1", {}),
}


def settings_in(folder: Path, **more: object) -> Settings:
    facts = {"node_name": "here", "check_languages": False, "log_level": "error", "pool_size": 0, "warm_pool_enabled": False}
    return Settings(state_dir=str(folder), storage_memory_bytes=64 * MIB, **facts, **more)  # type: ignore[arg-type]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[ControlPlaneClient]:
    async with in_process_client(settings_in(tmp_path)) as opened:
        yield opened


def fill(client: ControlPlaneClient, owner: str = "") -> Charge:
    return client.platform.ledger.open(StorageKind.session_files, owner, 64 * MIB, Medium.memory)


@pytest.mark.parametrize("dialect", CREATING)
async def test_a_full_node_is_507_with_figures_in_every_dialect(client: ControlPlaneClient, dialect: str) -> None:
    path, body = CREATING[dialect]
    with fill(client):
        answer = await client.post(path, json=body)
        assert answer.status_code == 507, answer.text
        assert "64 MiB of 64 MiB are held (session files 64 MiB)" in answer.text and "Retry-After" in answer.headers
    assert (await client.post(path, json=body)).status_code in (200, 201)


async def test_a_quota_is_429_and_names_nobody_else(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, api_key="operator-key-123456", storage_owner_memory_bytes=8 * MIB)
    async with in_process_client(settings) as client:
        ann, bob = await new_key(client.platform, "ann"), await new_key(client.platform, "bob")
        client.platform.ledger.open(StorageKind.session_files, "ann", 8 * MIB, Medium.memory)
        refused = await client.post("/api/v1/sessions", json={"template_id": TEMPLATE}, headers=ann)
        assert refused.status_code == 429 and "you hold 8 MiB of 8 MiB" in refused.text
        client.platform.ledger.open(StorageKind.session_files, "bob", 7 * MIB, Medium.memory)
        client.platform.ledger.open(StorageKind.uploads, None, 49 * MIB, Medium.memory)
        full = await client.post("/api/v1/sessions", json={"template_id": TEMPLATE}, headers=bob)
        assert full.status_code == 507 and "ann" not in full.text and "yours of that: 7 MiB" in full.text


async def test_the_metrics_show_what_is_held(client: ControlPlaneClient) -> None:
    with fill(client):
        text = (await client.get("/metrics")).text
        line = 'sandbox_storage_bytes{kind="session_files",medium="memory"}'
        assert [float(metric.split()[1]) for metric in text.splitlines() if metric.startswith(line)] == [64 * MIB]
        assert 'sandbox_storage_limit_bytes{medium="disk"}' in text


@pytest.mark.parametrize("field", ["resources", "resource_limit"])
@pytest.mark.parametrize(
    ("name", "value"), [("cpu", "nan"), ("cpu", "inf"), ("disk", "-1"), ("disk", "1e999"), ("memory", "0x10"), ("memory", True)]
)
async def test_a_number_that_is_none_makes_no_session(client: ControlPlaneClient, field: str, name: str, value: object) -> None:
    answer = await client.post("/api/v1/sessions", json={"template_id": TEMPLATE, field: {name: value}})
    assert answer.status_code == 422, answer.text


async def test_a_session_with_five_gibibytes_is_made_and_too_many_are_told_in_plain_units(client: ControlPlaneClient) -> None:
    assert (await client.session(disk="5Gi"))["resource_limit"]["disk"] == "5Gi"
    answer = await client.post("/api/v1/sessions", json={"template_id": TEMPLATE, "disk": "900Gi"})
    assert answer.status_code == 400 and "at most 16 GiB here, not 900 GiB" in answer.text
