"""Which languages this dialect takes, and how its description names them."""

from __future__ import annotations

from typing import Any

from sandbox_runtime.api.dialects.fusion.schemas.programs import LANGUAGES
from sandbox_runtime.errors import NotFound
from sandbox_runtime.languages import Catalog


def languages_of(catalog: Catalog) -> list[str]:
    """The protocol's own in their order, then the others by name."""
    return [*LANGUAGES, *sorted({language.name for language in catalog} - set(LANGUAGES))]


def unknown_language(catalog: Catalog, name: str) -> str:
    """Why a name is refused; empty when it is not. Aliases are: the protocol's clients rely on `js` and `ts` being unknown."""
    try:
        known = catalog.find(name).name == name
    except NotFound:
        known = False
    return "" if known else f"Input should be one of {', '.join(languages_of(catalog))}"


def name_all_languages(description: dict[str, Any], catalog: Catalog) -> None:
    """In the interface's description: what is written in the code names the protocol's own alone."""
    body = description["paths"]["/run_code"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    body["properties"]["language"]["enum"] = languages_of(catalog)
