"""Numbers in messages: NaN, infinity and booleans are refused in every dialect."""

from __future__ import annotations

import typing
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, Field, model_validator
from pydantic.fields import FieldInfo

from sandbox_runtime.quantities import InvalidQuantity

Number = Annotated[float, Field(allow_inf_nan=False)]
"""A finite number. Decimal text is taken for one, as clients send it."""


class RequestModel(BaseModel):
    """A message that comes in. A boolean is no number, although the language says so."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_booleans(cls, values: Any) -> Any:
        if isinstance(values, dict) and any(value is True or value is False for value in values.values()):
            for name, field in cls.model_fields.items():
                if _is_number(field) and any(isinstance(values.get(key), bool) for key in _keys(name, field)):
                    raise InvalidQuantity(f"{name} must be a number, not a boolean")
        return values


def _is_number(field: FieldInfo) -> bool:
    """Whether it takes numbers alone: what also takes text has a parser of its own."""
    kinds = _kinds(field.annotation)
    return bool(kinds & {int, float}) and not kinds & {bool, str}


def _kinds(annotation: Any) -> set[Any]:
    """The types of a union, without what annotates them."""
    if typing.get_origin(annotation) is Annotated:
        return _kinds(typing.get_args(annotation)[0])
    inner = typing.get_args(annotation)
    return {kind for one in inner for kind in _kinds(one)} if inner else {annotation}


def _keys(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias or field.alias]
    return [name, *(choice for choice in choices if isinstance(choice, str))]
