"""`.sandboxrc.json`: what `sandbox-run` takes for granted, from the folder one is in, else from one's home."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from sandbox_runtime.errors import InvalidRequest

NAME = ".sandboxrc.json"
FORMATS = ("pretty", "json", "yaml")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_MOST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class BoxPart:
    """cpu_quota: seconds of processor time. memory_limit: KB. max_user_progress: processes. max_idle_time and max_task_count
    are for boxes that serve more than one call; here each call has its own, so they are checked and change nothing."""

    allow_network: bool = False
    cpu_quota: int = 300
    memory_limit: int = 262_144
    max_idle_time: int = 60
    max_user_progress: int = 10
    max_task_count: int = 10


@dataclass(frozen=True, slots=True)
class CliPart:
    default_timeout: int = 300
    default_format: str = "pretty"
    enable_colors: bool = True
    show_profile: bool = False


@dataclass(frozen=True, slots=True)
class LoggingPart:
    level: str = "WARNING"


@dataclass(frozen=True, slots=True)
class HandlerConfig:
    sandbox: BoxPart = BoxPart()
    cli: CliPart = CliPart()
    logging: LoggingPart = LoggingPart()


Part = TypeVar("Part", BoxPart, CliPart, LoggingPart)


def find(cwd: Path, home: Path) -> HandlerConfig:
    """The first that is there; the built-in values where there is none."""
    for folder in (cwd, home):
        if (folder / NAME).is_file():
            return read(folder / NAME)
    return HandlerConfig()


def read(path: Path) -> HandlerConfig:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MOST_BYTES + 1)
        table = json.loads(text) if len(text) <= _MOST_BYTES else None
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} cannot be read: {error}") from error
    if not isinstance(table, dict):
        raise InvalidRequest(f"{path} must be a JSON object of at most {_MOST_BYTES} bytes")
    unknown = sorted(set(table) - {field.name for field in fields(HandlerConfig)})
    if unknown:
        raise InvalidRequest(f"{path}: {unknown[0]!r} is no section; there are sandbox, cli and logging")
    config = HandlerConfig(
        _part(table, "sandbox", BoxPart(), path),
        _part(table, "cli", CliPart(), path),
        _part(table, "logging", LoggingPart(), path),
    )
    _check(config, path)
    return config


def _part(table: dict[str, Any], name: str, default: Part, path: Path) -> Part:
    given = table.get(name, {})
    known = {field.name: type(getattr(default, field.name)) for field in fields(default)}
    if not isinstance(given, dict):
        raise InvalidRequest(f"{path}: {name} must be an object")
    for key, value in given.items():
        if key not in known:
            raise InvalidRequest(f"{path}: {name}.{key} is no setting; there are {', '.join(known)}")
        if type(value) is not known[key] or (known[key] is int and value <= 0):
            raise InvalidRequest(f"{path}: {name}.{key} must be {_WORDS[known[key]]}, not {value!r}")
    return type(default)(**given)


_WORDS = {int: "a whole number above 0", bool: "true or false", str: "a text"}


def _check(config: HandlerConfig, path: Path) -> None:
    if config.cli.default_format not in FORMATS:
        raise InvalidRequest(f"{path}: cli.default_format must be one of {', '.join(FORMATS)}")
    if config.logging.level not in LEVELS:
        raise InvalidRequest(f"{path}: logging.level must be one of {', '.join(LEVELS)}")
