"""The options of a batch or of one line, as clients spell them: the words of the judge's own protocol (TestConfig)."""

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
    """dataset_type: the class of a dataset that is not registered. extract: the caller's own extraction code. row: the problem
    itself, where it comes with the completion."""

    options: Options
    dataset_type: str | None = None
    extract: str | None = None
    row: Row | None = None


def read_config(dataset: str, *told: Mapping[str, Any] | None) -> LineConfig:
    """Of several, a later one goes before an earlier one, word by word. Raises InvalidRequest."""
    config: dict[str, Any] = {}
    for one in told:
        config |= {name: value for name, value in _check(one or {}).items() if value is not None}
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
        raise InvalidRequest(f"config has no {sorted(unknown)[0]!r}; it has {', '.join((*_TEXTS, *_TIMES, *_OTHERS))}")
    for name, value in config.items():
        if value is not None and not _is_valid(name, value):
            raise InvalidRequest(f"config.{name} cannot be {str(value)[:60]!r}")
    return config


def _is_valid(name: str, value: Any) -> bool:
    if name in _TEXTS:
        return isinstance(value, str)
    if name in _TIMES:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MAX_TIMEOUT_S
    return isinstance(value, bool) if name == "is_fewshot" else isinstance(value, Mapping)
