"""Settings of the legacy workspace server: other environment names for some settings, and another default port."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings.loader import load
from sandbox_runtime.settings.names import environment_name
from sandbox_runtime.settings.settings import Settings

PORT = "8000"
LEGACY_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "HOST": "host",
        "PORT": "port",
        "LOG_LEVEL": "log_level",
        "LOG_FORMAT": "log_format",
        "SANDBOX_ISOLATION_TYPE": "isolation",
        "SANDBOX_MAX_USER_PROGRESS": "process_limit",
    }
)
_LOWER = ("log_level", "log_format", "isolation")
_ONE_WORKER = "WORKERS"


def load_shared_env(flags: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Load settings like `load`. A SANDBOX_ name takes precedence over its legacy name."""
    environ = os.environ if environ is None else environ
    if environ.get(_ONE_WORKER, "1") not in ("", "1"):
        raise InvalidRequest(
            f"{_ONE_WORKER}={environ[_ONE_WORKER]}: sessions belong to one server process; remove the variable or set it to 1"
        )
    older = {
        environment_name(setting): _value(setting, environ[name]) for name, setting in LEGACY_NAMES.items() if environ.get(name)
    }
    given = {name: value for name, value in environ.items() if value}
    return load(flags, {environment_name("port"): PORT, **older, **given})


def _value(setting: str, text: str) -> str:
    return text.lower() if setting in _LOWER else text
