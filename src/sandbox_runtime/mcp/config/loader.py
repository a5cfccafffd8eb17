"""Load the configuration: a file, overridden by environment variables, overridden by command-line flags."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config.model import McpConfig
from sandbox_runtime.settings.config_file import read_yaml

FILE_NAME = "mcp-sandboxd.yaml"
PREFIX = "SANDBOXRUNNER_"
Table = dict[str, Any]


def load_config(environ: Mapping[str, str], source: Path | None = None, flags: Mapping[str, object] | None = None) -> McpConfig:
    """`flags`: dotted keys ("server.port") of the flags that were given."""
    path = source or find_file(environ)
    table: Table = {} if path is None else dict(read_yaml(path))
    for key, value in (*_from_environment(environ), *(flags or {}).items()):
        _set(table, key, value)
    return validate(table, str(path) if path else "the configuration")


def find_file(environ: Mapping[str, str]) -> Path | None:
    folders = (Path(), Path("config"), Path(environ.get("HOME") or "/") / ".config" / "sandboxrunner", Path("/etc/sandboxrunner"))
    return next((folder / FILE_NAME for folder in folders if (folder / FILE_NAME).is_file()), None)


def validate(table: Mapping[str, object], source: str) -> McpConfig:
    try:
        return McpConfig.model_validate(table)
    except ValidationError as error:
        details = error.errors()[:10]
        errors = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details)
        raise InvalidRequest(f"{source} is not valid: {errors}") from error


def keys() -> dict[str, type]:
    """Return every dotted key and the type of its value."""
    return dict(_keys(McpConfig(), ""))


def default_yaml() -> str:
    """Return a configuration file with every key at its default."""
    lines = ["# Configuration of mcp-sandboxd. Every key is at its default: keep those that you change."]
    _write(McpConfig().model_dump(mode="json"), 0, lines)
    return "\n".join(lines) + "\n"


def _keys(section: BaseModel, before: str) -> list[tuple[str, type]]:
    pairs: list[tuple[str, type]] = []
    for name in type(section).model_fields:
        value = getattr(section, name)
        nested = isinstance(value, BaseModel)
        pairs += _keys(value, f"{before}{name}.") if nested else [(f"{before}{name}", type(value))]
    return pairs


def _from_environment(environ: Mapping[str, str]) -> list[tuple[str, object]]:
    """Unknown names with this prefix are ignored, because other tools may use it. An empty value counts as unset."""
    known = {PREFIX + key.replace(".", "_").upper(): (key, kind) for key, kind in keys().items()}
    return [(key, _value(environ[name], kind, name)) for name, (key, kind) in known.items() if environ.get(name)]


def _value(text: str, kind: type, name: str) -> object:
    if kind is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise InvalidRequest(f"{name} must be true or false, not {text[:40]!r}")
        return text.lower() in ("true", "1")
    if kind is dict:
        return _object(text, name)
    return text


def _object(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidRequest(f"{name} must be a JSON object: {error}") from error


def _set(table: Table, key: str, value: object) -> None:
    *folders, last = key.split(".")
    for folder in folders:
        inner = table.setdefault(folder, {})
        if not isinstance(inner, dict):
            raise InvalidRequest(f"the section {folder!r} of the configuration must be a mapping of keys to values")
        table = inner
    table[last] = value


def _write(table: Mapping[str, Any], depth: int, lines: list[str]) -> None:
    """Write YAML. Values are written as JSON, which is valid YAML."""
    for name, value in table.items():
        lead = "  " * depth + f"{name}:"
        if isinstance(value, dict) and value:
            lines.append(lead)
            _write(value, depth + 1, lines)
        else:
            lines.append(f"{lead} {json.dumps(value, ensure_ascii=False)}")
