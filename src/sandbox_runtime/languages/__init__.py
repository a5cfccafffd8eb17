"""(language, code, files) → plan.

Contract: pure. Reads its catalog of TOML files when asked to, starts no process, knows no box and no door. One file is one
language; an operator's folder adds to the built-in ones or replaces them by name.
"""

from sandbox_runtime.languages.catalog import Catalog, assets_folder, load_catalog
from sandbox_runtime.languages.language import CheckProgram, Install, Language, Recipe
from sandbox_runtime.languages.planner import Toolchain, plan, prestart_step, version_step

__all__ = [
    "Catalog",
    "CheckProgram",
    "Install",
    "Language",
    "Recipe",
    "Toolchain",
    "assets_folder",
    "load_catalog",
    "plan",
    "prestart_step",
    "version_step",
]
