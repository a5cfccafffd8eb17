"""No regular expression of the package takes more than linear time, whatever text it is given."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.regexes.discovery import Used
from tests.regexes.hostile import attacks

CHECKOUT = Path(__file__).parents[2]
WITHIN_S = 240


def test_every_pattern_is_linear_in_a_million_hostile_characters() -> None:
    """A new pattern is found by itself; one that is put together at run time has its entry in supplied.py."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.regexes.feeding"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one for one in found if "patterns" not in one] == []
    assert found[-1]["patterns"] > 200


def test_the_hostile_texts_hold_what_is_hard_for_known_slow_patterns() -> None:
    quadratic = {r"(?m)^\s*package\s+\w+": "\n", r"(\w+)[ \t]*\(": "a", r'"(?:\\.|[^"\\])*"': '\\"', r"/\*.*?\*/": "/*"}
    for written, unit in quadratic.items():
        used = Used("here", re.compile(written, re.DOTALL), frozenset({"search"}))
        assert unit in {attack.unit for attack in attacks(used.pattern)}, written
