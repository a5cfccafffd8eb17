"""The YAML file that SANDBOX_CONFIG names, with the keys that SandboxFusion's deployments have.

What it says of execution becomes settings like any other source's; what it says of datasets is kept as it is. Some of its keys
ask for what every box does anyway (a user of its own, no process left, an untouched shell): they are checked and need nothing.
Where there are no boxes (isolation none) they would be a promise that nobody keeps, and are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import yaml

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings.dataset import DatasetConfig, read_dataset
from sandbox_runtime.settings.sections import Section

CONFIG_VARIABLE = "SANDBOX_CONFIG"
NO_ISOLATION = "none"
MAX_FILE_CHARACTERS = 1024 * 1024
_MAX_USER_ID = 2**32 - 2
_MAX_CONCURRENCY = 100_000


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """given: the settings that it sets, by name."""

    origin: str
    given: Mapping[str, object]
    dataset: DatasetConfig


def read_config(name: str) -> ConfigFile:
    """By path, or by the name of one that comes with this package."""
    path, text = _read_named(name)
    try:
        whole = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidRequest(f"the configuration file {path} is no YAML: {str(error) or 'too deep'}") from error
    with Section({} if whole is None else whole, f"the configuration file {path}") as keys:
        given = {**_sandbox(keys.section("sandbox")), **_common(keys.section("common"))}
        origin = f"{CONFIG_VARIABLE} {path}"
        return ConfigFile(origin, given, read_dataset(keys.section("dataset"), origin))


def bundled_configs() -> list[str]:
    return sorted(entry.name.removesuffix(".yaml") for entry in _folder().iterdir() if entry.name.endswith(".yaml"))


def _sandbox(section: Section) -> dict[str, object]:
    with section as keys:
        given: dict[str, object] = {}
        isolation = keys.choice("isolation", ("none", "lite"), "lite")
        asked = {
            "set_uid": keys.raw("set_uid") is not None and keys.whole("set_uid", 0, 0, _MAX_USER_ID) >= 0,
            "restore_bash": keys.flag("restore_bash", False),
        }
        keys.flag("cleanup_process", False)
        if isolation == NO_ISOLATION and any(asked.values()):
            key = next(name for name, wanted in asked.items() if wanted)
            raise keys.fault(key, "can be had with isolation lite alone, where every box does that anyway")
        if keys.raw("isolation") is not None:
            given["isolation"] = isolation
        if keys.raw("max_concurrency") is not None:
            given["max_concurrency"] = keys.whole("max_concurrency", 1, 1, _MAX_CONCURRENCY)
        return given


def _common(section: Section) -> dict[str, object]:
    with section as keys:
        return {} if keys.raw("logging_color") is None else {"log_color": keys.flag("logging_color", False)}


def _read_named(name: str) -> tuple[str, str]:
    if "/" in name or name.endswith((".yaml", ".yml")):
        return name, _read(Path(name))
    if name not in bundled_configs():
        known = ", ".join(bundled_configs())
        raise InvalidRequest(
            f"{CONFIG_VARIABLE}={name!r}: there is no such configuration; name one of {known}, or a path to a file"
        )
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
