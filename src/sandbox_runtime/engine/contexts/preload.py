"""What the spawner of contexts preloads: guest modules, and our own, which it receives as text."""

from __future__ import annotations

import functools
from importlib import resources

PACKAGE = "_sandbox_context"
"""Package name of our modules in the box."""
MODULES = (
    "array", "ctypes", "json", "re", "signal", "socket", "struct", "traceback",
    "IPython.core.completer", "IPython.core.displayhook", "IPython.core.displaypub", "IPython.core.interactiveshell",
    "IPython.core.oinspect", "traitlets.config",
)  # fmt: skip
START = f"from {PACKAGE}.start import run\nrun()\n"
_OURS = ("connection", "interpreter", "start")
"""Each after its imports; process_image comes first."""


@functools.cache
def injected_modules() -> tuple[tuple[str, str], ...]:
    image = _source("sandbox_runtime.isolation.inside", "process_image")
    ours = [(f"{PACKAGE}.{name}", _source(f"{__package__}.inside", name)) for name in _OURS]
    return ((PACKAGE, ""), (f"{PACKAGE}.process_image", image), *ours)


def _source(package: str, name: str) -> str:
    return resources.files(package).joinpath(f"{name}.py").read_text(encoding="utf-8")
