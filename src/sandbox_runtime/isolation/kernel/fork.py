"""Forking at the price of the kernel's part alone."""

from __future__ import annotations

from sandbox_runtime.isolation.kernel import libc

fork = libc.Function("fork")
"""As os.fork, for a process with one thread, but without the interpreter's housekeeping in the child.

That housekeeping (locks other threads may have held, hooks that modules registered) touches objects all over the heap, and every
page it touches is copied: 600 kB and 200 page faults a child, which is more than all else an idle box costs.
"""
