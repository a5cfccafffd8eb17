"""Loads Settings from flags, environment and files. All values pass through _parse, which converts them to the setting's type."""

from __future__ import annotations

import itertools
import math
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings.aliases import read_aliases
from sandbox_runtime.settings.config_file import CONFIG_VARIABLE, ConfigFile, read_config
from sandbox_runtime.settings.dataset import DatasetConfig
from sandbox_runtime.settings.names import annotation, environment_name, type_name
from sandbox_runtime.settings.setting import check_value
from sandbox_runtime.settings.settings import Settings, all_settings

FILE_VARIABLE = "SANDBOX_SETTINGS_FILE"
DEFAULT_FILES = ("sandbox.toml", "/etc/sandbox-runtime.toml")

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def load(
    flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None, file: str | Path | None = None
) -> Settings:
    """Return the effective settings. `flags` holds only the given flags; `file` is the settings file named by a flag."""
    environ = os.environ if environ is None else environ
    config = _config(environ)
    values: dict[str, object] = {}
    origin = dict.fromkeys(all_settings(), "default")
    sources = (
        _from_config(config),
        _from_file(file, environ),
        read_aliases(environ),
        _from_environment(environ),
        _from_flags(flags or {}),
    )
    for (name, raw), source in itertools.chain(*sources):
        values[name], origin[name] = _parse(name, raw, source), source
    dataset = DatasetConfig() if config is None else config.dataset
    return Settings(**values, dataset=dataset, origin=MappingProxyType(origin))  # type: ignore[arg-type]


_Values = tuple[tuple[str, object], str]


def _config(environ: Mapping[str, str]) -> ConfigFile | None:
    named = environ.get(CONFIG_VARIABLE)
    return read_config(named) if named else None


def _from_config(config: ConfigFile | None) -> list[_Values]:
    return [] if config is None else [(pair, config.origin) for pair in config.settings.items()]


def _from_file(named: str | Path | None, environ: Mapping[str, str]) -> list[_Values]:
    wanted = named or environ.get(FILE_VARIABLE)
    path = Path(wanted) if wanted else next((Path(known) for known in DEFAULT_FILES if Path(known).is_file()), None)
    if path is None:
        return []
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"the settings file {path} cannot be read: {error}") from error
    for name in table:
        if name not in all_settings():
            raise InvalidRequest(f"the settings file {path} sets unknown setting {name!r}; `sandbox settings` lists all settings")
    return [((name, raw), f"file {path}") for name, raw in table.items()]


def _from_environment(environ: Mapping[str, str]) -> list[_Values]:
    """Ignore unknown SANDBOX_ names, since orchestrators use the same prefix. An empty variable counts as not set."""
    names = {environment_name(name): name for name in all_settings()}
    return [((names[variable], environ[variable]), f"environment {variable}") for variable in names if environ.get(variable)]


def _from_flags(flags: Mapping[str, object]) -> list[_Values]:
    for name in flags:
        if name not in all_settings():
            raise InvalidRequest(f"unknown setting {name!r}; `sandbox settings` lists all settings")
    return [((name, raw), "flag") for name, raw in flags.items()]


def _parse(name: str, raw: object, source: str) -> object:
    reader = _READERS[annotation(name)]
    try:
        value = reader(raw)
    except (TypeError, ValueError) as error:
        shown = "the value" if all_settings()[name].secret else repr(raw)
        raise InvalidRequest(
            f"{name} ({source}): {shown} is not a {type_name(name)}; unit: {all_settings()[name].unit}"
        ) from error
    value = dict(all_settings()[name].value_aliases).get(value, value) if isinstance(value, str) else value
    check_value(value, all_settings()[name], name, source)
    return value


def _read_text(raw: object) -> str:
    if not isinstance(raw, str):
        raise TypeError
    return raw


def _read_flag(raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    word = _read_text(raw).strip().lower()
    if word not in _TRUE + _FALSE:
        raise ValueError
    return word in _TRUE


def _read_whole(raw: object) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        raise TypeError
    return int(raw)


def _read_number(raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        raise TypeError
    value = float(raw)
    if not math.isfinite(value):
        raise ValueError
    return value


def _read_list(raw: object) -> tuple[str, ...]:
    words = raw.split(",") if isinstance(raw, str) else raw
    if not isinstance(words, list | tuple):
        raise TypeError
    return tuple(_read_text(word).strip() for word in words if _read_text(word).strip())


_READERS: Mapping[str, Callable[[object], object]] = MappingProxyType(
    {"str": _read_text, "bool": _read_flag, "int": _read_whole, "float": _read_number, "tuple[str, ...]": _read_list}
)
