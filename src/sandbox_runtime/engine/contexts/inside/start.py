"""Entry: what a spawner makes ready, and what the program of a context's box calls."""

from __future__ import annotations

import os
import sys

from .interpreter import Interpreter

_interpreters: list[Interpreter] = []


def preload() -> None:
    """Making an interpreter takes longer than everything else that a context has to do before it is ready."""
    _interpreters.append(Interpreter())


def run() -> None:
    """Programs look for their modules in the working folder first, as they do at a prompt."""
    sys.path[0] = os.getcwd()
    _interpreters.pop().serve()
