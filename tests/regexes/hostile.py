"""Texts that are hard for one regular expression: alphabets that are hard for many, and repetitions of its own beginnings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

ALPHABETS = (
    "\n", " ", "\t", "`", "```\n", "(", "[", "{", "<", ")", "]", "}", '"', "'", "\\", "a", "a ", "a\n", " \n", "\n ", "\r\n",
    "/*", "//", "--", "/-", "#", "0", "0.", ".", "$", ";", "=", ":", ",", "@", "/", "a.", "a,", "a(", "a=", "\x1b[", "\x1e", "{a",
    "()", "-", '\\"', "\\'", "\\`", "\\\n",
)  # fmt: skip
_PROBES = "\n \ta0_.-/\"'`([{<;:=\\$#@,é\x1b"
_MANY = 64


@dataclass(frozen=True, slots=True)
class Attack:
    """head once, then unit as often as there is room."""

    head: str
    unit: str

    def text(self, size: int) -> str:
        return self.head + self.unit * max(1, (size - len(self.head)) // max(1, len(self.unit)))


def attacks(pattern: re.Pattern[Any]) -> list[Attack]:
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(written, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    own = _of_sequence(list(tree), "")
    found = dict.fromkeys(Attack("", unit) for unit in ALPHABETS)
    for prefix, unit in own:
        found.update(
            dict.fromkeys([Attack(prefix, unit), Attack("\n" + prefix, unit), Attack("", prefix + unit), Attack("", prefix)])
        )
        found.update(dict.fromkeys([Attack("", "\n" + prefix + unit)]))
    return [attack for attack in found if attack.unit]


def _of_sequence(nodes: Sequence[Any], prefix: str) -> Iterator[tuple[str, str]]:
    for node in nodes:
        yield from _of_node(node, prefix)
        prefix += _sample([node])


def _of_node(node: Any, prefix: str) -> Iterator[tuple[str, str]]:
    code, value = node
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        _low, high, body = value
        if high >= _MANY:
            yield from ((prefix, unit) for unit in _units(list(body)))
        yield from _of_sequence(list(body), prefix)
    elif code is codes.BRANCH:
        for branch in value[1]:
            yield from _of_sequence(list(branch), prefix)
    elif code is codes.SUBPATTERN:
        yield from _of_sequence(list(value[3]), prefix)
    elif code is codes.ATOMIC_GROUP:
        yield from _of_sequence(list(value), prefix)
    elif code in (codes.ASSERT, codes.ASSERT_NOT):
        yield from _of_sequence(list(value[1]), prefix)


def _units(body: list[Any]) -> list[str]:
    if len(body) == 1 and body[0][0] in (codes.IN, codes.ANY, codes.LITERAL, codes.NOT_LITERAL):
        return [probe for probe in _PROBES if _matches(body[0], probe)] or [_sample(body)]
    return [_sample(body), *(_sample(list(branch)) for code, value in body if code is codes.BRANCH for branch in value[1])]


def _sample(nodes: Sequence[Any]) -> str:
    """A short text that such a sequence matches, as far as that can be told from its parts."""
    return "".join(_sample_of(code, value) for code, value in nodes)


def _sample_of(code: Any, value: Any) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code in (codes.IN, codes.NOT_LITERAL, codes.ANY):
        return next((probe for probe in "a 0-\n" + _PROBES if _matches((code, value), probe)), _first_of(value))
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return _sample(list(value[2])) * min(value[0], _MANY)
    if code is codes.BRANCH:
        return _sample(list(value[1][0]))
    if code is codes.SUBPATTERN:
        return _sample(list(value[3]))
    return _sample(list(value)) if code is codes.ATOMIC_GROUP else ""


def _first_of(value: Any) -> str:
    kind, chosen = value[0] if isinstance(value, list) else (None, None)
    return chr(chosen) if kind is codes.LITERAL else chr(chosen[0]) if kind is codes.RANGE else "a"


def _matches(node: Any, probe: str) -> bool:
    code, value = node
    if code is codes.ANY:
        return True
    if code is codes.LITERAL:
        return chr(value) == probe
    if code is codes.NOT_LITERAL:
        return chr(value) != probe
    negated = bool(value) and value[0][0] is codes.NEGATE
    return negated != any(_in_class(kind, chosen, probe) for kind, chosen in value if kind is not codes.NEGATE)


def _in_class(kind: Any, chosen: Any, probe: str) -> bool:
    if kind is codes.LITERAL:
        return chr(chosen) == probe
    if kind is codes.RANGE:
        return bool(chosen[0] <= ord(probe) <= chosen[1])
    classes = {
        codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_NOT_SPACE: r"\S", codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W", codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_NOT_DIGIT: r"\D",
    }  # fmt: skip
    return re.match(classes[chosen], probe) is not None
