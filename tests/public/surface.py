"""The names that users depend on: HTTP routes and bodies, settings, commands and the SDK, without their descriptions.

Run `python -m tests.public.surface` to write surface.json anew after a change that is meant to be public.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import typer

import sandbox_runtime.sdk as sdk
from sandbox_runtime.api.app import openapi_document
from sandbox_runtime.cli.main import build
from sandbox_runtime.settings import all_settings, default_text, environment_name, type_name

RECORDED = Path(__file__).parent / "surface.json"
_PROSE = {"description", "summary", "title", "example", "examples"}


def surface() -> dict[str, Any]:
    return {"http": http(), "settings": settings(), "commands": commands(), "sdk": sdk_names()}


def http() -> dict[str, Any]:
    """Return each path with its routes, and under `schemas` each body once, by a digest of what it holds."""
    document = openapi_document()
    bodies: dict[str, Any] = {}
    reader = _Reader(bodies)
    paths = {path: reader.plain(routes, document["components"]["schemas"]) for path, routes in document["paths"].items()}
    return {**paths, "schemas": bodies}


def settings() -> dict[str, Any]:
    return {
        name: [environment_name(name), default_text(name), type_name(name), setting.unit, list(setting.choices)]
        for name, setting in all_settings().items()
    }


def commands() -> dict[str, Any]:
    return _command(typer.main.get_command(build()))["commands"]


def sdk_names() -> dict[str, Any]:
    return {name: _members(getattr(sdk, name)) for name in sorted(sdk.__all__)}


class _Reader:
    """Resolve references and remove prose. Names of schemas are internal."""

    def __init__(self, bodies: dict[str, Any]) -> None:
        self._bodies = bodies

    def plain(self, value: Any, schemas: Mapping[str, Any], seen: tuple[str, ...] = ()) -> Any:
        if isinstance(value, list):
            return [self.plain(item, schemas, seen) for item in value]
        if not isinstance(value, dict):
            return value
        if "$defs" in value:
            schemas = {**schemas, **value["$defs"]}
        if "$ref" in value:
            name = value["$ref"].rpartition("/")[2]
            return "recursive" if name in seen else self._body(self.plain(schemas[name], schemas, (*seen, name)))
        dropped = _PROSE | {"$defs", "properties"}
        found = {key: self.plain(item, schemas, seen) for key, item in value.items() if key not in dropped}
        if "properties" in value:
            found["properties"] = {name: self.plain(field, schemas, seen) for name, field in value["properties"].items()}
        return found

    def _body(self, body: Any) -> str:
        digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:12]
        self._bodies[digest] = body
        return digest


def _command(command: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"parameters": [[*parameter.opts, *parameter.secondary_opts] for parameter in command.params]}
    if below := getattr(command, "commands", None):
        found["commands"] = {name: _command(one) for name, one in below.items()}
    return found


def _members(value: Any) -> Any:
    if inspect.isclass(value):
        return sorted(name for name in dir(value) if not name.startswith("_"))
    if inspect.isfunction(value):
        return list(inspect.signature(value).parameters)
    return type(value).__name__


def text() -> str:
    """Return the surface as JSON, one line for each name."""
    parts = (
        f"{json.dumps(part)}: {{\n"
        + ",\n".join(f" {json.dumps(name)}: {_line(value)}" for name, value in sorted(names.items()))
        + "\n}"
        for part, names in surface().items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


if __name__ == "__main__":
    RECORDED.write_text(text(), encoding="utf-8")
