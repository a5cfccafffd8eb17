"""Runs notebooks: a fresh Jupyter kernel for each, in a box of its own, without a network.

Contract: Notebooks.run(notebook) returns a NotebookResult for whatever the cells did, and raises only for a request that cannot
be served or a fault of this platform. Kernels are started ahead of time once notebooks are in use; none serves twice. All that a
guest can say is bounded and checked on this side: the driver (driver.py) runs in the box and belongs to the guest.
"""

from sandbox_runtime.engine.notebook.driver_source import injected_modules
from sandbox_runtime.engine.notebook.notebooks import Notebooks
from sandbox_runtime.engine.notebook.preload import MODULES

__all__ = ["MODULES", "Notebooks", "injected_modules"]
