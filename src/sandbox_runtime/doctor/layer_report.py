"""Assess each layer from the verdicts. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sandbox_runtime.doctor.verdict import State, Verdict
from sandbox_runtime.model import Layer, LayerReport, LayerState


class LayerStanding(StrEnum):
    """What the attacks showed about a layer.

    proven: attacks that succeed without the layer ran here and held.
    unproven: it is on, but no attack tested it.
    broken: an attack on it succeeded or was inconclusive.
    """

    proven = "proven"
    unproven = "unproven"
    broken = "broken"
    missing = "missing"
    impossible = "impossible"


@dataclass(frozen=True, slots=True)
class LayerAssessment:
    layer: Layer
    standing: LayerStanding
    detail: str
    fix: str
    attacks: int
    """Number of attacks on it that held."""


def assess_layers(reports: Sequence[LayerReport], verdicts: Sequence[Verdict]) -> list[LayerAssessment]:
    return [_assess(report, [verdict for verdict in verdicts if report.layer in verdict.layers]) for report in reports]


def _assess(report: LayerReport, verdicts: Sequence[Verdict]) -> LayerAssessment:
    held = [verdict for verdict in verdicts if verdict.state is State.held]
    bad = next((verdict for verdict in verdicts if verdict.bad), None)
    if report.state is not LayerState.on:
        return LayerAssessment(report.layer, LayerStanding(report.state.value), report.detail, report.fix, len(held))
    if bad is not None:
        return LayerAssessment(report.layer, LayerStanding.broken, f"{bad.attack}: {bad.reason}", report.fix, len(held))
    shown = any(report.layer in verdict.shows for verdict in held)
    return LayerAssessment(
        report.layer, LayerStanding.proven if shown else LayerStanding.unproven, report.detail, report.fix, len(held)
    )
