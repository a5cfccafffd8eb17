"""Parse the options of a batch or of one line, in the names of the judge's protocol (TestConfig)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Options, Row

_TEXTS = ("dataset_type", "language", "locale", "custom_extract_logic")
_TIMES = ("compile_timeout", "run_timeout")
_OTHERS = ("is_fewshot", "provided_data", "extra")
_MAX_TIMEOUT_S = 86_400


@dataclass(frozen=True, slots=True)
class LineConfig:
    options: Options
    dataset_type: str | None = None
    """Class of a dataset that is not registered."""
    extract: str | None = None
    """Extraction code of the caller."""
    row: Row | None = None
    """The problem, if it is sent with the completion."""


def read_config(dataset: str, *layers: Mapping[str, Any] | None) -> LineConfig:
    """Merge and parse the layers; in each field a later layer overrides an earlier one. Raises InvalidRequest."""
    config: dict[str, Any] = {}
    for layer in layers:
        config |= {name: value for name, value in _check(layer or {}).items() if value is not None}
    options = Options(
        dataset=dataset,
        language=config.get("language"),
        locale=config.get("locale"),
        is_fewshot=config.get("is_fewshot"),
        compile_timeout_s=config.get("compile_timeout"),
        run_timeout_s=config.get("run_timeout"),
        extra=config.get("extra", {}),
    )
    return LineConfig(options, config.get("dataset_type"), config.get("custom_extract_logic"), config.get("provided_data"))


def _check(config: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(config, Mapping):
        raise InvalidRequest("config must be an object")
    unknown = set(config) - {*_TEXTS, *_TIMES, *_OTHERS}
    if unknown:
        known = ", ".join((*_TEXTS, *_TIMES, *_OTHERS))
        raise InvalidRequest(f"unknown field {sorted(unknown)[0]!r} in config; allowed: {known}")
    for name, value in config.items():
        if value is not None and not _is_valid(name, value):
            raise InvalidRequest(f"invalid config.{name}: {str(value)[:60]!r}")
    return config


def _is_valid(name: str, value: Any) -> bool:
    if name in _TEXTS:
        return isinstance(value, str)
    if name in _TIMES:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MAX_TIMEOUT_S
    return isinstance(value, bool) if name == "is_fewshot" else isinstance(value, Mapping)
