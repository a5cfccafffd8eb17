"""Homes: files that outlive the boxes which see them, and all that can be run on them.

Contract: a Home owns its files, a box that stands by for the next command, and live contexts; whoever opened it owes close().
run() takes a Work of any kind (a program of any language, a handler, a shell's line) into a fresh box on these files, and
returns what came of it: limits, accounting and death are those of one command. It raises only for a request that cannot be
served or a fault of this platform. Knows no sessions, no owners and no store.
"""

from sandbox_runtime.engine.environments.environment import Environment
from sandbox_runtime.engine.environments.planner import RunPlanner
from sandbox_runtime.engine.environments.request import RunRequest, RunResult

__all__ = ["Environment", "RunPlanner", "RunRequest", "RunResult"]
