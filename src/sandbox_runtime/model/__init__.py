"""The nouns of the domain: frozen, without I/O, standard library only.

Contract: a value that exists is valid. Whatever is out of bounds raises InvalidRequest when it is built, with a text that says
what to do instead.
"""

from sandbox_runtime.model.build import Build, ManyResult
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import File, Job, JobResult
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Blame, Ending, Outcome, Output, Usage
from sandbox_runtime.model.plan import Plan, Step
from sandbox_runtime.model.policy import Layer, LayerReport, LayerState, Network, Policy

__all__ = [
    "Blame",
    "Build",
    "Command",
    "Ending",
    "File",
    "Job",
    "JobResult",
    "Layer",
    "LayerReport",
    "LayerState",
    "Limits",
    "ManyResult",
    "Network",
    "Outcome",
    "Output",
    "Plan",
    "Policy",
    "Step",
    "Usage",
]
