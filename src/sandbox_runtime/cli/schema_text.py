"""JSON schemas as Markdown: type, bounds and default of a field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
_MAX_CHOICES = 12
_FORMATS = {"date-time": "time, ISO 8601", "binary": "bytes"}
_BOUNDS = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " entries"),
    ("minProperties", "maxProperties", " entries"),
)


def type_text(schema: Schema) -> str:
    """Return the type, with a link if it is a model."""
    if "$ref" in schema:
        return link_to(schema["$ref"])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _union(schema[several])
    if "enum" in schema:
        return _choices(schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = _kind(schema)
    bounds = bounds_text(schema)
    return f"{kind}, {bounds}" if bounds else kind


def default_text(schema: Schema, required: bool) -> str:
    if required:
        return "required"
    return f"`{json.dumps(schema['default'])}`" if "default" in schema else ""


def bounds_text(schema: Schema) -> str:
    parts = [_between(schema.get(low), schema.get(high), unit) for low, high, unit in _BOUNDS]
    if "exclusiveMinimum" in schema:
        parts.append(f"above {schema['exclusiveMinimum']:g}")
    if "exclusiveMaximum" in schema:
        parts.append(f"below {schema['exclusiveMaximum']:g}")
    if "pattern" in schema:
        parts.append(f"as `{schema['pattern']}`")
    return ", ".join(text for text in parts if text)


def ref_name(reference: str) -> str:
    return reference.rpartition("/")[2]


def link_to(reference: str) -> str:
    name = ref_name(reference)
    return f"[{name}](#{name.lower()})"


def references(schema: Any) -> list[str]:
    """Return the references to models, in order."""
    if isinstance(schema, Mapping):
        here = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
        return here + [parts for value in schema.values() for parts in references(value)]
    return [parts for value in schema for parts in references(value)] if isinstance(schema, list) else []


def _union(schemas: list[Schema]) -> str:
    """Return the alternatives, null last."""
    kinds = [type_text(schema) for schema in schemas if schema.get("type") != "null"]
    return " or ".join([*dict.fromkeys(kinds), *(["null"] if len(kinds) < len(schemas) else [])])


def _choices(values: list[Any]) -> str:
    shown = ", ".join(f"`{value}`" for value in values[:_MAX_CHOICES])
    return f"{shown} and {len(values) - _MAX_CHOICES} more" if len(values) > _MAX_CHOICES else shown


def _kind(schema: Schema) -> str:
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {type_text(schema.get('items', {}))}"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"object of {type_text(more)}" if isinstance(more, Mapping) and more else "object"
    return _FORMATS.get(schema.get("format", ""), str(kind))


def _between(low: float | None, high: float | None, unit: str) -> str:
    if low is not None and high is not None:
        return f"{_number(low)} to {_number(high)}{unit}"
    if low is not None:
        return f"at least {_number(low)}{unit}"
    return f"at most {_number(high)}{unit}" if high is not None else ""


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:g}"
