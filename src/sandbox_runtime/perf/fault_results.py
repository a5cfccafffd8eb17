"""What became of completions that were judged while the platform was sabotaged."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class FaultResults:
    """wrong: scored otherwise than they deserve. not_judged, refused: said to be so, which is true. done: the sabotage."""

    judged: int = 0
    wrong: int = 0
    not_judged: int = 0
    refused: int = 0
    why: Counter[str] = field(default_factory=Counter)
    """Of those that were not judged."""
    done: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            **{entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)},
            "why": dict(self.why),
            "done": dict(self.done),
        }
