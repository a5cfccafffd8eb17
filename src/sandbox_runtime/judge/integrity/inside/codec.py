"""Values as JSON text, and back: the closed set of types that cross between tests and solution.

A scalar is itself and a list is a list; everything else is an object with one key, its tag. Types are exact: a subclass crosses
as the plain type below it, so that what arrives has no behaviour of its own. Instances of classes that both sides know cross by
their fields, through a table, so that linked structures may be long, shared or circular. Whatever else there is, the owner of the
codec may name it (`reference`), or it is refused.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .compact_tables import decode_table, encode_table  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .extra_types import DECODERS, find_encoder  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

Reference = Callable[[Any, bool], Any]
"""(value, last) → the node of a value that crosses by name, or None. Asked twice: before the types of this codec, and last."""
_SCALARS = frozenset({type(None), bool, int, float, str})
_NON_SCALARS = frozenset({list, dict})
_METHODS = (FunctionType, property)
_MAX_INT = 10**4000
"""Larger ones are written in base 16: Python bounds the digits that it reads and writes in base 10."""


class NotTransferable(TypeError):
    """A value that cannot be sent to the other process."""


class Encoder:
    """For one message. by_fields: whether instances of a class cross by their fields. numbers: the place in the other side's
    table of instances that came from there."""

    def __init__(self, reference: Reference, by_fields: Callable[[type], bool], numbers: dict[int, int] | None = None) -> None:
        self._reference = reference
        self._by_fields = by_fields
        self._numbers = dict(numbers or {})
        self.instances: list[Any] = [None] * len(self._numbers)
        self._pending: list[int] = []
        self._exact_ints = False

    def dumps(self, value: Any) -> bytes:
        """The message, or raise NotTransferable."""
        start = list(self.instances)
        numbers = dict(self._numbers)
        try:
            return self._dumps(value)
        except ValueError as error:
            if "digits" not in str(error):
                raise NotTransferable(str(error)) from None
        except RecursionError:
            raise NotTransferable("a value is nested too deeply, or holds itself") from None
        self.instances, self._numbers, self._pending, self._exact_ints = start, numbers, [], True
        return self._dumps(value)

    def _dumps(self, value: Any) -> bytes:
        tree = self.encode(value)
        rows: dict[int, Any] = {}
        while self._pending:
            number = self._pending.pop()
            instance = self.instances[number]
            rows[number] = [type(instance).__name__, self.encode(_fields(instance))]
        return json.dumps([tree, [rows.get(number) for number in range(len(self.instances))]]).encode()

    def encode(self, value: Any) -> Any:
        kind = type(value)
        if kind in _SCALARS:
            return {"i": hex(value)} if self._exact_ints and kind is int and not -_MAX_INT < value < _MAX_INT else value
        if kind is list:
            return (encode_table(value) or {"lt": value}) if self._are_flat_tuples(value) else self.items(value)
        if kind is tuple:
            return {"t": self.items(value)}
        if kind is dict:
            return self._dict(value)
        node = self._reference(value, False)
        if node is not None:
            return node
        if self._by_fields(kind):
            return {"x": self._number(value)}
        encode = find_encoder(value)
        if encode is not None:
            return encode(value, self)
        node = self._reference(value, True)
        if node is None:
            raise NotTransferable(f"an object of the type {kind.__module__}.{kind.__qualname__} cannot be sent")
        return node

    def _are_flat_tuples(self, values: list[Any]) -> bool:
        """Records, of which there may be very many: one tag serves them all."""
        if not values or self._exact_ints or type(values[0]) is not tuple:
            return False
        return set(map(type, values)) == {tuple} and _SCALARS.issuperset(map(type, itertools.chain.from_iterable(values)))

    def items(self, values: Any) -> list[Any]:
        if not self._exact_ints and _SCALARS.issuperset(map(type, values)):
            return list(values)
        return [self.encode(value) for value in values]

    def pairs(self, value: Any) -> list[Any]:
        return [[self.encode(key), self.encode(held)] for key, held in value.items()]

    def _dict(self, value: dict[Any, Any]) -> dict[str, Any]:
        if all(type(key) is str for key in value):
            return {"m": dict(zip(value, self.items(value.values())))}  # noqa: B905
        return {"d": self.pairs(value)}

    def _number(self, instance: Any) -> int:
        number = self._numbers.get(id(instance))
        if number is None:
            number = self._numbers[id(instance)] = len(self.instances)
            self.instances.append(None)
        if self.instances[number] is None:
            self.instances[number] = instance
            self._pending.append(number)
        return number


class Decoder:
    """For one message. resolve: the value of a node that was sent by name. make: a new instance of the class of that name.
    known: instances that have their numbers already; their fields become those of the message."""

    def __init__(self, resolve: Callable[[str, Any], Any], make: Callable[[str], Any], known: list[Any] | None = None) -> None:
        self._resolve = resolve
        self._make = make
        self.instances: list[Any] = list(known or [])

    def loads(self, text: bytes) -> Any:
        """The value, or raise NotTransferable for what is none."""
        try:
            tree, table = json.loads(text)
            known = len(self.instances)
            for number, row in enumerate(table):
                if number >= known:
                    self.instances.append(self._make(str(row[0])))
            for instance, row in zip(self.instances, table):  # noqa: B905
                if row is not None:
                    _set_fields(instance, self.decode(row[1]))
            return self.decode(tree)
        except NotTransferable:
            raise
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, ArithmeticError) as error:
            raise NotTransferable(f"a message cannot be read: {type(error).__name__}") from None

    def decode(self, node: Any) -> Any:
        kind = type(node)
        if kind is list:
            return self.items(node)
        if kind is not dict:
            return node
        ((tag, held),) = node.items()
        if tag == "t":
            return tuple(self.items(held))
        if tag == "lt":
            return _as_tuples(held)
        if tag == "tw":
            return decode_table(held)
        if tag == "m":
            return {key: self.decode(value) for key, value in held.items()}
        if tag == "i":
            return int(held, 16)
        if tag == "x":
            return self.instances[held]
        decode = DECODERS.get(tag)
        return self._resolve(tag, held) if decode is None else decode(held, self)

    def items(self, nodes: list[Any]) -> list[Any]:
        if _NON_SCALARS.isdisjoint(map(type, nodes)):
            return nodes
        return [self.decode(node) for node in nodes]

    def pairs(self, nodes: list[Any]) -> list[tuple[Any, Any]]:
        return [(self.decode(key), self.decode(value)) for key, value in nodes]


def _as_tuples(rows: list[Any]) -> list[Any]:
    """In place: there may be very many of them."""
    for place, row in enumerate(rows):
        if type(row) is not list or not _NON_SCALARS.isdisjoint(map(type, row)):
            raise NotTransferable("a record holds more than scalars")
        rows[place] = tuple(row)
    return rows


def _fields(instance: Any) -> dict[str, Any]:
    fields = dict(getattr(instance, "__dict__", {}))
    for base in type(instance).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(instance, name):
                fields[name] = getattr(instance, name)
    return fields


def _set_fields(instance: Any, fields: dict[str, Any]) -> None:
    kind = type(instance)
    for name in fields:
        if isinstance(getattr(kind, name, None), _METHODS):
            raise NotTransferable(f"a field is named like the method {name} of its class")
    held = getattr(instance, "__dict__", None)
    if held is not None:
        held.clear()
        held.update(fields)
    else:
        for name, value in fields.items():
            object.__setattr__(instance, name, value)
