"""Interpreters that keep their variables from one execution to the next, and copies of them that live on their own.

Contract: a Context is a live Python in a box that its owner opened. execute() returns a CellResult for whatever the code did, and
raises only for what this platform failed at. copy() continues one context in the box of another, with all its variables. What
a guest can say is bounded and checked on this side, as with notebooks.
"""

from sandbox_runtime.engine.contexts.context import Context
from sandbox_runtime.engine.contexts.copy import copy
from sandbox_runtime.engine.contexts.preload import MODULES, injected_modules

__all__ = ["MODULES", "Context", "copy", "injected_modules"]
