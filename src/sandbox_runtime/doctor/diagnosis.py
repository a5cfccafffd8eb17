"""What a deployment's examination amounts to. Pure."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox_runtime.doctor.host import Warning
from sandbox_runtime.doctor.layers import LayerProof, Standing
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
    warnings: Sequence[Warning]
    layers: Sequence[LayerProof]
    verdicts: Sequence[Verdict]

    @property
    def failures(self) -> list[str]:
        """Why this deployment must not be trusted; none where it may."""
        bad_layers = [f"layer {proof.layer} is {proof.standing}: {proof.detail}" for proof in self.layers if self._fails(proof)]
        return bad_layers + [f"{verdict.attack} {verdict.state}: {verdict.reason}" for verdict in self.verdicts if verdict.bad]

    @property
    def weaker(self) -> list[LayerProof]:
        """Layers that are not on and need not be, because the mode says so."""
        return [proof for proof in self.layers if proof.standing is not Standing.proven and not self._fails(proof)]

    def _fails(self, proof: LayerProof) -> bool:
        if proof.standing is Standing.missing and not self.as_root and self.isolation != "none":
            return proof.layer not in WEAKER_AS_PLAIN_USER
        return proof.standing is not Standing.proven

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
            "layers": [dataclasses.asdict(proof) for proof in self.layers],
            "counts": self.counts(),
            "attacks": [dataclasses.asdict(verdict) for verdict in self.verdicts],
        }
