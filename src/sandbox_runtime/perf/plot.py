"""The timings of a run as an SVG picture: each of ours above its baseline. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from sandbox_runtime.perf.statistics import Timing
from sandbox_runtime.perf.targets import TARGETS, Kind, PerfTarget

_WIDTH, _LEFT, _RIGHT = 880, 24, 150
_ROW, _BAR, _TOP = 74, 16, 64
_OURS, _BASELINE, _TEXT, _FAINT = "#2f6fb5", "#c3cad6", "#1b2a41", "#6b7a90"


def draw(timings: Mapping[str, Timing], machine: Mapping[str, Any], goals: tuple[PerfTarget, ...] = TARGETS) -> str:
    """Return the picture. Only goals that compare two median durations are drawn; each pair has a scale of its own."""
    pairs = [goal for goal in goals if goal.kind is Kind.faster and {goal.ours, goal.baseline} <= timings.keys()]
    height = _TOP + _ROW * len(pairs) + 12
    rows = "".join(_pair(goal, timings[goal.ours], timings[goal.baseline], _TOP + _ROW * at) for at, goal in enumerate(pairs))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img"'
        ' font-family="system-ui, sans-serif">\n'
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>\n'
        f"{_text(_LEFT, 28, 'Median time, shorter is better', _TEXT, 17, bold=True)}"
        f"{_text(_LEFT, 48, f'blue: sandbox-runtime; grey: baseline, on the same machine ({_machine(machine)})', _FAINT, 12)}"
        f"{rows}</svg>\n"
    )


def _machine(facts: Mapping[str, Any]) -> str:
    return f"{facts['cores_allowed']} cores, {facts['processor'] or facts['architecture']}"


def _pair(goal: PerfTarget, ours: Timing, baseline: Timing, top: int) -> str:
    scale = (_WIDTH - _LEFT - _RIGHT) / max(ours.p50_s, baseline.p50_s)
    return (
        _text(_LEFT, top + 12, f"{goal.title}: {baseline.p50_s / ours.p50_s:.1f} times as fast", _TEXT, 13)
        + _bar(ours, top + 20, scale, _OURS)
        + _bar(baseline, top + 40, scale, _BASELINE)
    )


def _bar(timing: Timing, top: int, scale: float, colour: str) -> str:
    width = max(1.0, timing.p50_s * scale)
    label = f"{_duration(timing.p50_s)}  {timing.title}"
    inside = width > (_WIDTH - _LEFT - _RIGHT) * 0.6
    x, paint = (_LEFT + 8, "#ffffff" if colour == _OURS else _TEXT) if inside else (_LEFT + width + 8, _FAINT)
    return f'<rect x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR}" rx="2" fill="{colour}"/>\n' + _text(
        x, top + 12, label, paint, 12
    )


def _text(x: float, y: float, text: str, colour: str, size: int, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y}" fill="{colour}" font-size="{size}"{weight}>{escape(text)}</text>\n'


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
