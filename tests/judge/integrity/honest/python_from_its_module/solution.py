import sys

CONSTANT = 42
__all__ = ["answer"]


def answer():
    """The answer."""
    return CONSTANT


def _hidden():
    return -CONSTANT
