"""The source of the harness: modules for a preset, and the program that starts it."""

from __future__ import annotations

import functools
from enum import StrEnum
from importlib import resources

PACKAGE = "_sandbox_harness"
"""Package name of the harness modules in the box."""
_SHARED_MODULES = (
    "reporter",
    "audit_hook",
    "hardened_modules",
    "pristine",
    "comparer",
    "rewriter",
    "static_check",
    "test_collector",
    "harness",
)
_SPLIT_MODULES = (
    "reporter",
    "test_collector",
    "wire",
    "failures",
    "extra_types",
    "compact_tables",
    "codec",
    "merge",
    "objects",
    "solution_process",
    "proxies",
    "test_text",
    "tests_process",
    "warmup",
)
"""Both in import order."""


class Harness(StrEnum):
    """Whether tests run in the process of the solution or in their own process."""

    one_process = "shared"
    two_processes = "split"


def start_program(harness: Harness, *, preloaded: bool) -> str:
    """Return the program to run in the box. preloaded: whether its interpreter has the harness modules loaded."""
    name = "harness" if harness is Harness.one_process else "tests_process"
    start = f"__import__('{PACKAGE}.{name}').{name}.run()\n"
    return start if preloaded else _with_modules(harness, start)


@functools.cache
def harness_modules() -> tuple[tuple[str, str], ...]:
    """Return the name and source of each module."""
    return _sources(tuple(dict.fromkeys((*_SHARED_MODULES, *_SPLIT_MODULES))))


@functools.cache
def _with_modules(harness: Harness, start: str) -> str:
    """Return a program that defines the modules itself, for interpreters without them."""
    return f"""
import sys
from types import ModuleType
for name, source in {_sources(_SHARED_MODULES if harness is Harness.one_process else _SPLIT_MODULES)!r}:
    module = sys.modules[name] = ModuleType(name)
    module.__package__ = "{PACKAGE}"
    module.__path__ = []
    setattr(sys.modules["{PACKAGE}"], name.rpartition(".")[2], module)
    exec(compile(source, f"<{{name}}>", "exec"), module.__dict__)
del name, source, module, sys, ModuleType
{start}"""


def _sources(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return ((PACKAGE, ""), *((f"{PACKAGE}.{name}", _read_source(f"{name}.py")) for name in names))


def _read_source(name: str) -> str:
    return resources.files(f"{__package__}.inside").joinpath(name).read_text(encoding="utf-8")
