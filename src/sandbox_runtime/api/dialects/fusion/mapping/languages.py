"""Which languages this dialect accepts, and how its OpenAPI document lists them."""

from __future__ import annotations

from typing import Any

from sandbox_runtime.api.dialects.fusion.schemas.programs import PROTOCOL_LANGUAGES
from sandbox_runtime.errors import NotFound
from sandbox_runtime.languages import Catalog


def language_names(catalog: Catalog) -> list[str]:
    """Return the protocol's languages in their order, then the others by name."""
    return [*PROTOCOL_LANGUAGES, *sorted({language.name for language in catalog} - set(PROTOCOL_LANGUAGES))]


def language_error(catalog: Catalog, name: str) -> str:
    """Return why the name is refused, or "". Aliases are refused: the protocol's clients rely on `js` and `ts` being unknown."""
    try:
        known = catalog.find(name).name == name
    except NotFound:
        known = False
    return "" if known else f"Input should be one of {', '.join(language_names(catalog))}"


def add_languages_to_openapi(document: dict[str, Any], catalog: Catalog) -> None:
    """Add the languages of the catalog to the enum of /run_code. The request model lists the protocol's only."""
    body = document["paths"]["/run_code"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    body["properties"]["language"]["enum"] = language_names(catalog)
