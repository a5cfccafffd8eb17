"""The output of `sandbox-run`: text, JSON or YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_GREEN, _RED, _BOLD, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[0m"
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_YAML_WORDS = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null"})


@dataclass(frozen=True, slots=True)
class Report:
    exit_code: int
    stdout: str
    stderr: str
    result: Any
    metrics: Mapping[str, float | None]
    summary: str
    timestamp: str
    details: Mapping[str, str] = field(default_factory=dict)
    """Printed with --verbose."""

    def fields(self, *, verbose: bool) -> dict[str, Any]:
        fields = {
            "exit_code": self.exit_code,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "result": self.result,
            "metrics": dict(self.metrics),
        }
        return {**fields, "timestamp": self.timestamp} if verbose else fields


def render(report: Report, form: str, *, profile: bool, verbose: bool, color: bool) -> str:
    if form == "json":
        return json.dumps(report.fields(verbose=verbose), indent=2, ensure_ascii=False) + "\n"
    if form == "yaml":
        return as_yaml(report.fields(verbose=verbose))
    return _pretty(report, profile=profile, verbose=verbose, color=color)


def _pretty(report: Report, *, profile: bool, verbose: bool, color: bool) -> str:
    good = report.exit_code == 0
    mark = f"{'✓' if good else '✗'} {report.summary}"
    parts = [f"{_GREEN if good else _RED}{mark}{_PLAIN}" if color else mark]
    sections = {
        "STDOUT": report.stdout,
        "STDERR": report.stderr,
        "RESULT": json.dumps(report.result, indent=2, ensure_ascii=False) if good else "",
        "METRICS": _lines(report.metrics) if profile or verbose else "",
        "DETAILS": _lines({"timestamp": report.timestamp, **report.details}) if verbose else "",
    }
    for title, text in sections.items():
        if text:
            parts.append(f"{_BOLD}{title}{_PLAIN}" if color else title)
            parts.append("\n".join(f"  {line}" for line in text.rstrip("\n").split("\n")))
    return "\n".join(parts) + "\n"


def _lines(values: Mapping[str, object]) -> str:
    return "\n".join(f"{name}: {'unknown' if value is None else value}" for name, value in values.items())


def as_yaml(value: Any) -> str:
    """Write mappings and lists as YAML blocks, and everything else as JSON, which is valid YAML."""
    return "\n".join(_block(value, "")) + "\n"


def _block(value: Any, indent: str) -> list[str]:
    lines = []
    for lead, item in _entries(value):
        if isinstance(item, dict | list) and item:
            lines += [f"{indent}{lead}", *_block(item, f"{indent}  ")]
        else:
            lines.append(f"{indent}{lead} {_scalar(item)}")
    return lines or [f"{indent}{_scalar(value)}"]


def _entries(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f"{_key(name)}:", item) for name, item in value.items()]
    return [("-", item) for item in value] if isinstance(value, list) else []


def _scalar(value: Any) -> str:
    """Return ASCII-only JSON: some characters that JSON allows end a line in YAML."""
    return json.dumps(value)


def _key(name: object) -> str:
    text = str(name)
    return text if _PLAIN_KEY.fullmatch(text) and text.lower() not in _YAML_WORDS else json.dumps(text)
