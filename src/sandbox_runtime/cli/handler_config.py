"""`.sandboxrc.json`: defaults of `sandbox-run`, read from the current folder, else from the home folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from sandbox_runtime.errors import InvalidRequest

NAME = ".sandboxrc.json"
FORMATS = ("pretty", "json", "yaml")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_MAX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class BoxSection:
    allow_network: bool = False
    cpu_quota: int = 300
    """Seconds of CPU time."""
    memory_limit: int = 262_144
    """KiB."""
    max_idle_time: int = 60
    """No effect, like max_task_count: it is for boxes that serve several calls, and here each call has its own box."""
    max_user_progress: int = 10
    """Processes."""
    max_task_count: int = 10


@dataclass(frozen=True, slots=True)
class CliSection:
    default_timeout: int = 300
    default_format: str = "pretty"
    enable_colors: bool = True
    show_profile: bool = False


@dataclass(frozen=True, slots=True)
class LogSection:
    level: str = "WARNING"


@dataclass(frozen=True, slots=True)
class HandlerConfig:
    sandbox: BoxSection = BoxSection()
    cli: CliSection = CliSection()
    logging: LogSection = LogSection()


Section = TypeVar("Section", BoxSection, CliSection, LogSection)


def find(cwd: Path, home: Path) -> HandlerConfig:
    """Return the first existing configuration, or the defaults."""
    for folder in (cwd, home):
        if (folder / NAME).is_file():
            return read(folder / NAME)
    return HandlerConfig()


def read(path: Path) -> HandlerConfig:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MAX_BYTES + 1)
        table = json.loads(text) if len(text) <= _MAX_BYTES else None
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"cannot read {path}: {error}") from error
    if not isinstance(table, dict):
        raise InvalidRequest(f"{path} must be a JSON object of at most {_MAX_BYTES} bytes")
    unknown = sorted(set(table) - {field.name for field in fields(HandlerConfig)})
    if unknown:
        raise InvalidRequest(f"{path}: unknown section {unknown[0]!r}; the sections are sandbox, cli and logging")
    config = HandlerConfig(
        _read_section(table, "sandbox", BoxSection(), path),
        _read_section(table, "cli", CliSection(), path),
        _read_section(table, "logging", LogSection(), path),
    )
    _check(config, path)
    return config


def _read_section(table: dict[str, Any], name: str, default: Section, path: Path) -> Section:
    values = table.get(name, {})
    known = {field.name: type(getattr(default, field.name)) for field in fields(default)}
    if not isinstance(values, dict):
        raise InvalidRequest(f"{path}: {name} must be an object")
    for key, value in values.items():
        if key not in known:
            raise InvalidRequest(f"{path}: unknown key {name}.{key}; the keys are {', '.join(known)}")
        if type(value) is not known[key] or (known[key] is int and value <= 0):
            raise InvalidRequest(f"{path}: {name}.{key} must be {_TYPE_NAMES[known[key]]}, not {value!r}")
    return type(default)(**values)


_TYPE_NAMES = {int: "an integer above 0", bool: "true or false", str: "a string"}


def _check(config: HandlerConfig, path: Path) -> None:
    if config.cli.default_format not in FORMATS:
        raise InvalidRequest(f"{path}: cli.default_format must be one of {', '.join(FORMATS)}")
    if config.logging.level not in LEVELS:
        raise InvalidRequest(f"{path}: logging.level must be one of {', '.join(LEVELS)}")
