"""Prompt bodies. A Body is a function from arguments to texts, one per message; combinators build bodies from bodies.

text("…$name…")              one message with placeholders for arguments
chain(a, b)                  the messages of a, then those of b
merge(a, b)                  one message with the texts of all
conditional(when, a, b)      a if when(arguments), else b
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Template

Arguments = Mapping[str, str]
Body = Callable[[Arguments], tuple[str, ...]]
When = Callable[[Arguments], bool]


def text(template: str) -> Body:
    parsed = Template(template)
    return lambda arguments: (parsed.substitute(arguments),)


def chain(*bodies: Body) -> Body:
    return lambda arguments: tuple(message for body in bodies for message in body(arguments))


def merge(*bodies: Body, between: str = "\n\n") -> Body:
    return lambda arguments: (between.join(message for message in chain(*bodies)(arguments) if message),)


def conditional(when: When, then: Body, otherwise: Body | None = None) -> Body:
    return lambda arguments: then(arguments) if when(arguments) else (otherwise(arguments) if otherwise else ())


def has_value(name: str) -> When:
    return lambda arguments: bool(arguments[name].strip())


def is_one_of(name: str, *values: str) -> When:
    return lambda arguments: arguments[name].strip().lower() in values
