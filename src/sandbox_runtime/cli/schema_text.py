"""JSON schemas in words: what a field is, what it may be, what it is where nothing is said. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
_LONGEST_CHOICE = 12
_FORMATS = {"date-time": "time, ISO 8601", "binary": "bytes"}
_BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " entries"),
    ("minProperties", "maxProperties", " entries"),
)


def kind_of(schema: Schema) -> str:
    """In Markdown, with a link where it is a model."""
    if "$ref" in schema:
        return link_to(schema["$ref"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _several(schema[several])
    if "enum" in schema:
        return _choices(schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = _kind(schema)
    bounds = bounds_of(schema)
    return f"{kind}, {bounds}" if bounds else kind


def default_of(schema: Schema, required: bool) -> str:
    if required:
        return "required"
    return f"`{json.dumps(schema['default'])}`" if "default" in schema else ""


def bounds_of(schema: Schema) -> str:
    found = [_between(schema.get(low), schema.get(high), unit) for low, high, unit in _BOUNDS]
    if "exclusiveMinimum" in schema:
        found.append(f"above {schema['exclusiveMinimum']:g}")
    if "exclusiveMaximum" in schema:
        found.append(f"below {schema['exclusiveMaximum']:g}")
    if "pattern" in schema:
        found.append(f"as `{schema['pattern']}`")
    return ", ".join(text for text in found if text)


def name_of(reference: str) -> str:
    return reference.rpartition("/")[2]


def link_to(reference: str) -> str:
    name = name_of(reference)
    return f"[{name}](#{name.lower()})"


def references(schema: Any) -> list[str]:
    """The models that it names, in order."""
    if isinstance(schema, Mapping):
        here = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
        return here + [found for value in schema.values() for found in references(value)]
    return [found for value in schema for found in references(value)] if isinstance(schema, list) else []


def _several(schemas: list[Schema]) -> str:
    """What may be null says so last."""
    kinds = [kind_of(one) for one in schemas if one.get("type") != "null"]
    return " or ".join([*dict.fromkeys(kinds), *(["null"] if len(kinds) < len(schemas) else [])])


def _choices(values: list[Any]) -> str:
    shown = ", ".join(f"`{value}`" for value in values[:_LONGEST_CHOICE])
    return f"{shown} and {len(values) - _LONGEST_CHOICE} more" if len(values) > _LONGEST_CHOICE else shown


def _kind(schema: Schema) -> str:
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"object of {kind_of(more)}" if isinstance(more, Mapping) and more else "object"
    return _FORMATS.get(schema.get("format", ""), str(kind))


def _between(low: float | None, high: float | None, unit: str) -> str:
    if low is not None and high is not None:
        return f"{_number(low)} to {_number(high)}{unit}"
    if low is not None:
        return f"at least {_number(low)}{unit}"
    return f"at most {_number(high)}{unit}" if high is not None else ""


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:g}"
