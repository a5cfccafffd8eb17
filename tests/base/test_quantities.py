"""Numbers and amounts: what is taken, what is refused, and that every interface refuses the same."""

from __future__ import annotations

import importlib
import pkgutil
import types
from collections.abc import Callable, Iterator

import pytest
from pydantic import BaseModel, ValidationError

import sandbox_runtime.api.dialects
from sandbox_runtime.api.dialects.control_plane.schemas.sessions import CreateSessionRequest
from sandbox_runtime.api.dialects.sandboxes.schemas.sandboxes import CreateSandboxRequest
from sandbox_runtime.api.dialects.workspace.mapping.requests import session_spec
from sandbox_runtime.api.dialects.workspace.schemas import WorkspaceSessionRequest
from sandbox_runtime.api.number_fields import _is_number
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config.model import McpConfig
from sandbox_runtime.mcp.tools import sandboxes
from sandbox_runtime.mcp.tools.error_codes import ToolFailure
from sandbox_runtime.mcp.tools.sandboxes import CreateArguments
from sandbox_runtime.model import Limits, Resources
from sandbox_runtime.quantities import (
    GIB,
    KIB,
    MIB,
    InvalidQuantity,
    format_bytes,
    format_seconds,
    parse_bytes,
    parse_cpu,
    parse_number,
    parse_seconds,
    parse_whole,
    show_bytes,
)
from sandbox_runtime.sdk.session_config import parse_config
from sandbox_runtime.settings import Settings, aliases, load

NAN, INF = float("nan"), float("inf")
NEVER: list[object] = [
    "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "1e9", "-1", "-0", "-0.0", "+1", "0x10", "0b1", "1_000", "", " ", "1.",
    ".5", "1..2", "\N{ARABIC-INDIC DIGIT ONE}",
    "1\n2", "M", "Mi", "1X", "1 000", "9" * 60, True, False, NAN, INF, -INF, -1, -0.5, -0.0, 10**400, [], {},
]  # fmt: skip
"""What is no amount in any interface."""


@pytest.mark.parametrize("value", NEVER, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("parse", [parse_bytes, parse_cpu, parse_seconds])
def test_what_is_no_amount_is_refused(parse: Callable[[object], float], value: object) -> None:
    with pytest.raises(InvalidQuantity) as caught:
        parse(value)
    assert "must be" in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0), ("1000", 1000), (1000, 1000), ("1K", KIB), ("1k", KIB), ("1Ki", KIB), ("1KB", KIB), ("1KiB", KIB), (1.0, 1),
        ("1.5G", 3 * GIB // 2), ("512Mi", 512 * MIB), ("5Gi", 5 * GIB), (" 1 GB ", GIB), ("100M", 100 * MIB), ("1T", 1024 * GIB),
    ],
)  # fmt: skip
def test_sizes_are_read(text: object, size: int) -> None:
    assert parse_bytes(text) == size


def test_interfaces_differ_in_units_alone() -> None:
    assert (parse_bytes("1K", decimal=True), parse_bytes("1Ki", decimal=True)) == (1000, 1024)
    assert (parse_bytes(4, unit=KIB), parse_bytes("4", unit=KIB)) == (4096, 4)


def test_times_and_cores_are_read() -> None:
    assert [parse_seconds(text) for text in (30, "30", "500ms", "1m30s", "24h", "1d")] == [30, 30, 0.5, 90, 86_400, 86_400]
    assert [parse_cpu(value) for value in (2, 0.5, "0.5", "4096")] == [2, 0.5, 0.5, 4096]
    assert [parse_number(value) for value in (-1, "-1.5", 0, "7", 1e3)] == [-1, -1.5, 0, 7, 1000]
    assert [parse_whole(value) for value in (3, "3", 3.0, -1)] == [3, 3, 3, -1]


@pytest.mark.parametrize("value", [1.5, "1.5", "nan", NAN, INF, True, "0x1", None])
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidQuantity):
        parse_whole(value)


def test_amounts_are_written_as_they_are_read() -> None:
    assert [format_bytes(size) for size in (0, 1000, 512 * MIB, GIB)] == ["0", "1000", "512Mi", "1Gi"]
    assert [show_bytes(size) for size in (0, 100, 4 * GIB, 3 * MIB // 2)] == ["0 bytes", "100 bytes", "4 GiB", "1.5 MiB"]
    assert [format_seconds(value) for value in (86_400, 300, 30, 0.5)] == ["24h", "5m", "30s", "500ms"]
    assert all(parse_bytes(format_bytes(size)) == size for size in (1, 1023, KIB, 5 * GIB, 7 * MIB + 1))


def test_a_bound_is_told_without_an_exponent() -> None:
    with pytest.raises(InvalidRequest, match="between 64 KiB and 1 TiB, not 4,096 TiB"):
        Resources(disk_bytes=4096 * 1024 * GIB)
    for value in (NAN, INF, True, "1"):
        with pytest.raises(InvalidRequest, match="must be a number"):
            Limits(wall_s=value)  # type: ignore[arg-type]


def _control_plane(field: str, value: object) -> None:
    CreateSessionRequest.model_validate({"template_id": "t", field: value})


def _control_plane_object(field: str, value: object) -> None:
    CreateSessionRequest.model_validate({"template_id": "t", "resources": {field: value}})


def _control_plane_limit(field: str, value: object) -> None:
    CreateSessionRequest.model_validate({"template_id": "t", "resource_limit": {field: value}})


def _sandboxes(field: str, value: object) -> None:
    CreateSandboxRequest.model_validate({"resources": {f"{field}_limit": value}})


def _workspace(field: str, value: object) -> None:
    name = {"cpu": "cpu_quota", "memory": "memory_limit", "disk": "size"}[field]
    session_spec("s", WorkspaceSessionRequest.model_validate({name: value}), Settings())


def _mcp_config(field: str, value: object) -> None:
    McpConfig.model_validate({"sandbox": {"default_resources": {f"{field}_limit": value}}})


def _mcp_tool(field: str, value: object) -> None:
    asked = CreateArguments.model_validate({f"{field}_limit": value})
    sandboxes._cores(asked.cpu_limit)
    for name in ("memory_limit", "disk_limit"):
        sandboxes._bytes(getattr(asked, name), name)


def _client(field: str, value: object) -> None:
    parse_config(None, {field: value})


def _older_client(field: str, value: object) -> None:
    name = {"cpu": "cpu_quota", "memory": "memory_limit", "disk": "size"}[field]
    parse_config(None, {name: value})


INTERFACES = (
    _control_plane, _control_plane_object, _control_plane_limit, _sandboxes, _workspace, _mcp_config, _mcp_tool, _client,
    _older_client,
)  # fmt: skip


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("field", ["cpu", "memory", "disk"])
def test_every_interface_refuses_what_is_no_amount(interface: Callable[[str, object], None], field: str) -> None:
    taken = []
    for value in NEVER:
        try:
            interface(field, value)
        except (ValidationError, InvalidRequest, ToolFailure):
            continue
        taken.append(value)
    assert taken == []


@pytest.mark.parametrize("value", ["nan", "inf", "1e999", "", "0x10", "-1"])
def test_settings_refuse_what_is_no_amount(value: str) -> None:
    with pytest.raises((InvalidRequest, ValueError)):
        aliases.CONVERTED["DEFAULT_DISK"][1](value)
    for name in ("timeout_seconds", "disk_limit", "cpu_quota"):
        with pytest.raises(InvalidRequest):
            load({name: value}, {})


def _modules() -> Iterator[types.ModuleType]:
    for found in pkgutil.walk_packages(sandbox_runtime.api.dialects.__path__, "sandbox_runtime.api.dialects."):
        if ".schemas" in found.name:
            yield importlib.import_module(found.name)


def _requests() -> Iterator[type[BaseModel]]:
    """Messages that come in: those whose fields have bounds, or that forbid what they do not know."""
    for module in _modules():
        for one in vars(module).values():
            if isinstance(one, type) and issubclass(one, BaseModel) and one.__module__ == module.__name__ and _comes_in(one):
                yield one


def _comes_in(one: type[BaseModel]) -> bool:
    return one.model_config.get("extra") == "forbid" or one.__name__.endswith("Request")


def _is_refused(one: type[BaseModel], name: str, value: object) -> bool:
    """Whether it is this field that is complained of: others may be missing."""
    try:
        one.model_validate({name: value})
    except ValidationError as error:
        return any(name in (*told["loc"], *told["msg"].split()) for told in error.errors())
    return False


@pytest.mark.parametrize("value", [NAN, INF, -INF, True, False, "nan", "inf", "0x10", "1e999"], ids=str)
def test_no_message_takes_a_number_that_is_none(value: object) -> None:
    numbers = [(one, name) for one in set(_requests()) for name, field in one.model_fields.items() if _is_number(field)]
    assert len(numbers) > 30
    assert [(one.__name__, name) for one, name in numbers if not _is_refused(one, name, value)] == []
