"""The YAML file that SANDBOX_CONFIG names, with the keys of SandboxFusion's deployments.

Its `sandbox` and `common` sections become settings like those of any other source; its `dataset` section is kept as it is. Some
keys request what every box does anyway (own user, no processes left, an untouched shell): they are checked and ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import yaml

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings.dataset import DatasetConfig

CONFIG_VARIABLE = "SANDBOX_CONFIG"
MAX_FILE_CHARACTERS = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ConfigFile:
    origin: str
    settings: Mapping[str, object]
    """The settings that the file sets, by name."""
    dataset: DatasetConfig


def read_config(name: str) -> ConfigFile:
    """Read a configuration file by its path, or a bundled one by its name."""
    from sandbox_runtime.settings.config_schema import ConfigSections
    from sandbox_runtime.validation import validate

    path, text = _read_named(name)
    sections = validate(ConfigSections, _parse(text, path), f"the configuration file {path}")
    origin = f"{CONFIG_VARIABLE} {path}"
    return ConfigFile(origin, sections.settings(), sections.dataset_config(origin))


def read_yaml(path: Path) -> dict[str, object]:
    """Return the table in a YAML file. An empty file is an empty table."""
    table = _parse(_read(path), str(path))
    if not isinstance(table, dict) or not all(isinstance(key, str) for key in table):
        raise InvalidRequest(f"the configuration file {path} must contain sections with keys and values")
    return table


def bundled_configs() -> list[str]:
    return sorted(entry.name.removesuffix(".yaml") for entry in _folder().iterdir() if entry.name.endswith(".yaml"))


def _parse(text: str, path: str) -> object:
    try:
        table = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidRequest(f"the configuration file {path} is not valid YAML: {str(error) or 'too deep'}") from error
    return {} if table is None else table


def _read_named(name: str) -> tuple[str, str]:
    if "/" in name or name.endswith((".yaml", ".yml")):
        return name, _read(Path(name))
    if name not in bundled_configs():
        known = ", ".join(bundled_configs())
        raise InvalidRequest(f"{CONFIG_VARIABLE}={name!r}: unknown configuration; use one of {known}, or a path to a file")
    return f"{name}.yaml", _folder().joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_FILE_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"the configuration file {path} cannot be read: {error}") from error
    if len(text) > MAX_FILE_CHARACTERS:
        raise InvalidRequest(f"the configuration file {path} is longer than {MAX_FILE_CHARACTERS} characters")
    return text


def _folder() -> resources.abc.Traversable:
    return resources.files(__package__).joinpath("configs")
