"""Number fields of requests. Every dialect rejects NaN, infinity and booleans."""

from __future__ import annotations

import typing
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, Field, model_validator
from pydantic.fields import FieldInfo

from sandbox_runtime.quantities import InvalidQuantity

Number = Annotated[float, Field(allow_inf_nan=False)]
"""A finite number. Text like "1.5" is accepted, because clients send it."""


class RequestModel(BaseModel):
    """A request body. Unlike plain pydantic models it rejects booleans in number fields."""

    @model_validator(mode="before")
    @classmethod
    def _reject_booleans(cls, values: Any) -> Any:
        if isinstance(values, dict) and any(value is True or value is False for value in values.values()):
            for name, field in cls.model_fields.items():
                if _is_number(field) and any(isinstance(values.get(key), bool) for key in _input_names(name, field)):
                    raise InvalidQuantity(f"{name} must be a number, not a boolean")
        return values


def _is_number(field: FieldInfo) -> bool:
    """Whether the field accepts numbers only. Fields that also accept text have their own parser."""
    types = _types(field.annotation)
    return bool(types & {int, float}) and not types & {bool, str}


def _types(annotation: Any) -> set[Any]:
    """Return the types of a union, without annotations."""
    if typing.get_origin(annotation) is Annotated:
        return _types(typing.get_args(annotation)[0])
    inner = typing.get_args(annotation)
    return {kind for argument in inner for kind in _types(argument)} if inner else {annotation}


def _input_names(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias or field.alias]
    return [name, *(choice for choice in choices if isinstance(choice, str))]
