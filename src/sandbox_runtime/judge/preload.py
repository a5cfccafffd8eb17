"""What graded Python programs find loaded: the modules that the usual headers of benchmarks import, where the guest has them."""

from __future__ import annotations

STANDARD = ("hashlib", "pickle", "queue", "unittest")
"""Beside those that every warm interpreter has."""
_NAME = "_sandbox_judge"
_SOURCE = '''
def preload():
    """A guest without numpy has programs that need none; they must not suffer for it."""
    try:
        import numpy
        import numpy.random
    except ImportError:
        return
    numpy.arange(6).reshape(2, 3).sum(axis=0)
'''


def preloaded_modules() -> tuple[tuple[str, str], ...]:
    return ((_NAME, _SOURCE),)
