"""(language, code, files) → plan.

Contract: pure. Reads its catalog of TOML files when asked to, starts no process, knows no box and no door. One file is one
language; an operator's folder adds to the built-in ones or replaces them by name.
"""

from sandbox_runtime.languages.catalog import Catalog, assets_folder, load_catalog
from sandbox_runtime.languages.language import Check, Install, Language, Recipe
from sandbox_runtime.languages.planner import Toolchain, ahead_step, plan, version_step

__all__ = [
    "Catalog",
    "Check",
    "Install",
    "Language",
    "Recipe",
    "Toolchain",
    "ahead_step",
    "assets_folder",
    "load_catalog",
    "plan",
    "version_step",
]
