"""Run notebooks: a fresh Jupyter kernel for each, in its own box, without a network.

Contract: Notebooks.run(notebook) returns a NotebookResult for anything the cells do, and raises only if the request is invalid
or the platform fails. Kernels are started ahead of time once notebooks are in use; none serves twice. The driver runs in the
box and belongs to the guest, so everything it sends is bounded and checked by the server.
"""

from sandbox_runtime.engine.injected_modules import NOTEBOOK_MODULES as MODULES
from sandbox_runtime.engine.injected_modules import notebook_modules as injected_modules
from sandbox_runtime.engine.notebook.notebooks import Notebooks

__all__ = ["MODULES", "Notebooks", "injected_modules"]
