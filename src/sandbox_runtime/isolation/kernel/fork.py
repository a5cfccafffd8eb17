"""Fork without the interpreter's bookkeeping."""

from __future__ import annotations

from sandbox_runtime.isolation.kernel import libc

fork = libc.Function("fork")
"""Like os.fork for a process with one thread, without the interpreter's work in the child.

That work (locks that other threads may have held, hooks that modules registered) touches objects all over the heap, and every
touched page is copied: 600 kB and 200 page faults per child, more than everything else in an idle box.
"""
