"""Modules preloaded for graded Python programs: those that benchmark headers usually import, if the guest has them."""

from __future__ import annotations

STANDARD = ("hashlib", "pickle", "queue", "unittest")
"""In addition to those of every warm interpreter."""
_NAME = "_sandbox_judge"
_SOURCE = '''
def preload():
    """Load numpy if the guest has it."""
    try:
        import numpy
        import numpy.random
    except ImportError:
        return
    numpy.arange(6).reshape(2, 3).sum(axis=0)
'''


def preloaded_modules() -> tuple[tuple[str, str], ...]:
    return ((_NAME, _SOURCE),)
