"""Entry points: preload() for the spawner, run() for the program of a context's box."""

from __future__ import annotations

import os
import sys

from .interpreter import Interpreter

_interpreters: list[Interpreter] = []


def preload() -> None:
    """Create an interpreter ahead of time: this takes longer than the rest of a context's start."""
    _interpreters.append(Interpreter())


def run() -> None:
    """Serve. Programs look for modules in the working folder first, as at a prompt."""
    sys.path[0] = os.getcwd()
    _interpreters.pop().serve()
