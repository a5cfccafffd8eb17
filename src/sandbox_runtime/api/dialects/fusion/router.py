"""The declaration of this dialect: its routers, and the languages in its OpenAPI document."""

from __future__ import annotations

from sandbox_runtime.api.dialect import Dialect
from sandbox_runtime.api.dialects.fusion.mapping.languages import add_languages_to_openapi
from sandbox_runtime.api.dialects.fusion.routes import judge, notebooks, programs

dialect = Dialect(
    name="fusion",
    routers=(programs.router, notebooks.router, judge.router),
    amend_openapi=add_languages_to_openapi,
)
