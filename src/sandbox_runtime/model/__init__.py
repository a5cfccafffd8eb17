"""The nouns of the domain: frozen, without I/O, standard library only.

Contract: a value that exists is valid. Whatever is out of bounds raises InvalidRequest when it is built, with a text that says
what to do instead.
"""

from sandbox_runtime.model.access import ApiKey
from sandbox_runtime.model.batch import ENDED_BATCH_STATES, Batch, BatchState
from sandbox_runtime.model.build import Build, MultiRunResult
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.execution import Artifact, ArtifactKind, Execution, ExecutionKind, ExecutionState, Metering
from sandbox_runtime.model.footprint import (
    CachedRun,
    CacheStatistics,
    FileRecord,
    MetricKind,
    MetricSample,
    Period,
    SessionUsage,
)
from sandbox_runtime.model.job import File, Job, JobResult, Reply
from sandbox_runtime.model.judge import (
    Benchmark,
    Block,
    Case,
    CaseVerdict,
    Check,
    Completion,
    Dataset,
    Guard,
    GuardKind,
    Options,
    Prompt,
    Reason,
    Row,
    Trial,
    Verdict,
)
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.node import Node, NodeState, NodeVisit
from sandbox_runtime.model.outcome import Blame, Ending, Outcome, Output, Usage
from sandbox_runtime.model.plan import Plan, Step
from sandbox_runtime.model.policy import Layer, LayerReport, LayerState, Network, Policy
from sandbox_runtime.model.record import AuditEntry, BoxRecord, BoxState
from sandbox_runtime.model.session import (
    Dependency,
    Installation,
    InstalledDependency,
    InstallState,
    Resources,
    Session,
    SessionMode,
    SessionState,
)
from sandbox_runtime.model.storage import Medium, StorageKind, StorageLimits, StorageUsage
from sandbox_runtime.model.template import PoolSizes, Template

__all__ = [
    "ENDED_BATCH_STATES",
    "ApiKey",
    "Artifact",
    "ArtifactKind",
    "AuditEntry",
    "Batch",
    "BatchState",
    "Benchmark",
    "Blame",
    "Block",
    "BoxRecord",
    "BoxState",
    "Build",
    "CacheStatistics",
    "CachedRun",
    "Case",
    "CaseVerdict",
    "Check",
    "Command",
    "Completion",
    "Dataset",
    "Dependency",
    "Ending",
    "Execution",
    "ExecutionKind",
    "ExecutionState",
    "File",
    "FileRecord",
    "Guard",
    "GuardKind",
    "InstallState",
    "Installation",
    "InstalledDependency",
    "Job",
    "JobResult",
    "Layer",
    "LayerReport",
    "LayerState",
    "Limits",
    "Medium",
    "Metering",
    "MetricKind",
    "MetricSample",
    "MultiRunResult",
    "Network",
    "Node",
    "NodeState",
    "NodeVisit",
    "Options",
    "Outcome",
    "Output",
    "Period",
    "Plan",
    "Policy",
    "PoolSizes",
    "Prompt",
    "Reason",
    "Reply",
    "Resources",
    "Row",
    "Session",
    "SessionMode",
    "SessionState",
    "SessionUsage",
    "Step",
    "StorageKind",
    "StorageLimits",
    "StorageUsage",
    "Template",
    "Trial",
    "Usage",
    "Verdict",
]
