"""Contexts: interpreters that keep their variables between executions, and independent copies of them.

Contract: a Context is a live Python in a box that its owner opened. execute() returns a CellResult for anything the code does,
and raises only if the platform fails. copy() continues one context in the box of another, with all its variables. What a guest
sends is bounded and checked by the server, as with notebooks.
"""

from sandbox_runtime.engine.contexts.context import Context
from sandbox_runtime.engine.contexts.copy import copy
from sandbox_runtime.engine.injected_modules import CONTEXT_MODULES as MODULES
from sandbox_runtime.engine.injected_modules import context_modules as injected_modules

__all__ = ["MODULES", "Context", "copy", "injected_modules"]
