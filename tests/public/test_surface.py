"""Public names change on purpose only."""

from __future__ import annotations

import json

import pytest
from tests.public import surface


@pytest.mark.parametrize("part", ["http", "settings", "commands", "sdk"])
def test_public_names_are_the_recorded_ones(part: str) -> None:
    recorded = json.loads(surface.RECORDED.read_text(encoding="utf-8"))[part]
    current = json.loads(surface.text())[part]
    assert sorted(current) == sorted(recorded)
    for name, value in current.items():
        assert value == recorded[name], name
