"""Run a job in a box: stage, compile, run, fetch, close.

Contract: `Engine.run`, `Engine.run_many` and the methods of `EngineSlot` return a result for anything the program does. They
raise only if the request is invalid or the platform fails. The box is closed before the result is returned. Everything is
bounded: concurrent runs, queue length, waiting time, input and output. This package knows nothing about HTTP.
"""

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.build import BuildCache, open_build_cache
from sandbox_runtime.engine.build.toolchain_identity import ToolchainIdentity
from sandbox_runtime.engine.check_cache import CheckCache
from sandbox_runtime.engine.engine import Engine
from sandbox_runtime.engine.invocations import Invocations
from sandbox_runtime.engine.language_check import LanguageStatus
from sandbox_runtime.engine.pools.box_pool import BoxPool
from sandbox_runtime.engine.pools.prestart import PrestartPool
from sandbox_runtime.engine.request_limits import RequestLimits
from sandbox_runtime.engine.run.case_scheduler import OutputBudget
from sandbox_runtime.engine.run.guest_paths import GuestPaths
from sandbox_runtime.engine.run.interactive import InteractiveResult
from sandbox_runtime.engine.run.planner import RunPlanner
from sandbox_runtime.engine.run.step_limits import StepLimits
from sandbox_runtime.engine.run.task_runner import TaskRunner
from sandbox_runtime.engine.slot import BuiltProgram, EngineSlot

__all__ = [
    "Admission",
    "BoxPool",
    "BuildCache",
    "BuiltProgram",
    "CheckCache",
    "Engine",
    "EngineSlot",
    "GuestPaths",
    "InteractiveResult",
    "Invocations",
    "LanguageStatus",
    "OutputBudget",
    "PrestartPool",
    "RequestLimits",
    "RunPlanner",
    "StepLimits",
    "TaskRunner",
    "ToolchainIdentity",
    "open_build_cache",
]
