"""Complete the OpenAPI document that FastAPI generates.

Some routes read and validate their JSON body themselves, so FastAPI does not see its model. They describe it with json_body().
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from sandbox_runtime.api.dialect import Dialect
from sandbox_runtime.languages import Catalog

_DEFINITIONS = "$defs"


def json_body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the `openapi_extra` of a route whose JSON body is this model."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": body_schema(model)}}}}


def body_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a body. It refers to nested models as components; complete() moves them there."""
    return model.model_json_schema(ref_template="#/components/schemas/{model}")


def complete(document: dict[str, Any], dialects: Iterable[Dialect], catalog: Catalog) -> None:
    """Move the models nested in bodies to the components, and let each dialect add what depends on the catalog."""
    components = document.setdefault("components", {}).setdefault("schemas", {})
    for path in document["paths"].values():
        for operation in path.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                _move_definitions(content["schema"], components)
    for dialect in dialects:
        if dialect.amend_openapi is not None:
            dialect.amend_openapi(document, catalog)


def _move_definitions(schema: dict[str, Any], components: dict[str, Any]) -> None:
    for name, definition in schema.pop(_DEFINITIONS, {}).items():
        if components.setdefault(name, definition) != definition:
            raise ValueError(f"two models are called {name}: rename one of them")
