"""The result of examining a deployment. Pure."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox_runtime.doctor.host import HostWarning
from sandbox_runtime.doctor.layer_report import LayerAssessment, LayerStanding
from sandbox_runtime.doctor.verdict import Verdict
from sandbox_runtime.model import Layer

WEAKER_AS_PLAIN_USER = frozenset({Layer.memory, Layer.processes, Layer.cpu})
"""Enforced by per-process limits if a plain user has no cgroups; see docs/concepts/isolation.md."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    isolation: str
    as_root: bool
    host: Mapping[str, str]
    backends: Mapping[str, str]
    warnings: Sequence[HostWarning]
    layers: Sequence[LayerAssessment]
    verdicts: Sequence[Verdict]

    @property
    def failures(self) -> list[str]:
        """Return why this deployment must not be trusted; empty if it may be."""
        bad_layers = [
            f"layer {assessment.layer} is {assessment.standing}: {assessment.detail}"
            for assessment in self.layers
            if self._fails(assessment)
        ]
        return bad_layers + [f"{verdict.attack} {verdict.state}: {verdict.reason}" for verdict in self.verdicts if verdict.bad]

    @property
    def weaker(self) -> list[LayerAssessment]:
        """Return layers that are not on and need not be in this mode."""
        return [
            assessment
            for assessment in self.layers
            if assessment.standing is not LayerStanding.proven and not self._fails(assessment)
        ]

    def _fails(self, assessment: LayerAssessment) -> bool:
        if assessment.standing is LayerStanding.missing and not self.as_root and self.isolation != "none":
            return assessment.layer not in WEAKER_AS_PLAIN_USER
        return assessment.standing is not LayerStanding.proven

    def counts(self) -> dict[str, int]:
        return dict(Counter(verdict.state.value for verdict in self.verdicts))

    def as_dict(self) -> dict[str, object]:
        """Return the result for machines. The key names are stable."""
        return {
            "ok": not self.failures,
            "isolation": self.isolation,
            "host": dict(self.host),
            "backends": dict(self.backends),
            "warnings": [dataclasses.asdict(warning) for warning in self.warnings],
            "failures": self.failures,
            "layers": [dataclasses.asdict(assessment) for assessment in self.layers],
            "counts": self.counts(),
            "attacks": [dataclasses.asdict(verdict) for verdict in self.verdicts],
        }
