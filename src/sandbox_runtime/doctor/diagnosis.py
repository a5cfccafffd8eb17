"""What a deployment's examination amounts to. Pure."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox_runtime.doctor.host import HostWarning
from sandbox_runtime.doctor.layers import LayerAssessment, LayerStanding
from sandbox_runtime.doctor.verdict import Verdict
from sandbox_runtime.model import Layer

WEAKER_AS_PLAIN_USER = frozenset({Layer.memory, Layer.processes, Layer.cpu})
"""Held by limits per process where no cgroup is lent to a plain user: docs/concepts/isolation.md tells what that means."""


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
        """Why this deployment must not be trusted; none where it may."""
        bad_layers = [
            f"layer {assessment.layer} is {assessment.standing}: {assessment.detail}"
            for assessment in self.layers
            if self._fails(assessment)
        ]
        return bad_layers + [f"{verdict.attack} {verdict.state}: {verdict.reason}" for verdict in self.verdicts if verdict.bad]

    @property
    def weaker(self) -> list[LayerAssessment]:
        """Layers that are not on and need not be, because the mode says so."""
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
        """For machines; the names are stable."""
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
