"""The interface described without a platform behind it: what the pages of the reference are made from."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from sandbox_runtime.api.app import create_app
from sandbox_runtime.api.dialects import fusion
from sandbox_runtime.languages import load_catalog
from sandbox_runtime.settings import Settings


def description() -> dict[str, Any]:
    """As OpenAPI has it, the same on every machine."""
    found = FastAPI.openapi(create_app(Settings()))
    fusion.name_all_languages(found, load_catalog())
    return found
