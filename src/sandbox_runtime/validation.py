"""Strict validation of tables from TOML and YAML files with pydantic. Errors name the file and the key.

Imported only when a file is read: importing pydantic takes longer than the start of a small command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from sandbox_runtime.errors import InvalidRequest

_MAX_ERRORS = 5
_KEY = "[key]"
"""The last part of a location if the key of a mapping is wrong, not its value."""
_TEXTS = {
    "missing": "is missing",
    "model_type": "must be a table of keys and values",
    "dict_type": "must be a table of keys and values",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "invalid_key": "is not a valid key; keys must be text",
}

Model = TypeVar("Model", bound=BaseModel)


class StrictModel(BaseModel):
    """A table of a file. Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def validate(model: type[Model], table: object, source: str) -> Model:
    """Return the table as a model. Raises InvalidRequest with the source and the keys that are wrong."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        details = error.errors(include_url=False)[:_MAX_ERRORS]
        raise InvalidRequest(f"{source}: {'; '.join(_describe(model, detail) for detail in details)}") from error


def _describe(model: type[BaseModel], detail: ErrorDetails) -> str:
    location = [part for part in detail["loc"] if part != _KEY]
    path = _path(location)
    if detail["type"] == "extra_forbidden":
        return f"{path} is not a known key; allowed: {', '.join(sorted(_keys(model, location[:-1])))}"
    if detail["type"] == "value_error":
        return f"{path}: {detail['ctx']['error']}".removeprefix(": ")
    text = _TEXTS.get(detail["type"]) or detail["msg"].replace("Input should be", "must be", 1)
    if detail["loc"] and detail["loc"][-1] == _KEY:
        return f"{path} is not a known key; it {text}"
    return f"{path} {text}".lstrip()


def _path(location: Sequence[int | str]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


def _keys(model: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """The keys of the table at a location of the model."""
    for part in location:
        if isinstance(part, str):
            model = _nested_model(model.model_fields[part].annotation) or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _nested_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for argument in get_args(annotation) if (found := _nested_model(argument))), None)


def drop_nulls(table: object) -> object:
    """Treat keys with the value null like missing ones."""
    return {key: value for key, value in table.items() if value is not None} if isinstance(table, Mapping) else table
