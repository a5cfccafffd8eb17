"""The OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox_runtime.api.app import openapi_document


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def resolves(document: dict[str, Any], reference: str) -> bool:
    root, *names = reference.split("/")
    node: Any = document
    for name in names:
        node = node.get(name) if isinstance(node, dict) else None
    return root == "#" and node is not None


def test_every_reference_resolves() -> None:
    document = openapi_document()
    dangling = {reference for reference in references(document) if not resolves(document, reference)}
    assert not dangling


def test_nested_models_of_bodies_are_components() -> None:
    document = openapi_document()
    assert {"TestConfig", "EfastFile"} <= set(document["components"]["schemas"])
    assert "$defs" not in str(document)
