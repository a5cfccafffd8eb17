"""The execution core: decides policy, network and plan of everything that runs.

Jobs (TaskRunner, and through it the judge), environments (Environment) and handlers without a session (Invocations) share one
RunPlanner. Checking and planning are one step: task() and plan() raise for a bad request and return what is then run.
"""

from __future__ import annotations

import dataclasses
import secrets
from dataclasses import dataclass

from sandbox_runtime.engine.handlers.call import JAVASCRIPT, LANGUAGES, PYTHON, HandlerCall
from sandbox_runtime.engine.handlers.rules import check_code
from sandbox_runtime.engine.request_limits import RequestLimits
from sandbox_runtime.engine.run.box_run import BoxRun, Task
from sandbox_runtime.engine.run.guest_paths import STD, GuestPaths
from sandbox_runtime.engine.run.request import RunRequest
from sandbox_runtime.engine.run.step_limits import StepLimits
from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.isolation.port import Box, Sink
from sandbox_runtime.languages.catalog import Catalog
from sandbox_runtime.languages.language import Language
from sandbox_runtime.languages.planner import Toolchain, plan
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.execution import ExecutionKind
from sandbox_runtime.model.job import Job
from sandbox_runtime.model.plan import Plan, Step
from sandbox_runtime.model.policy import Network, Policy
from sandbox_runtime.telemetry.metrics import Metrics

SHELL = "/bin/bash"
_ANY_NAME_TRANSFORMS = ("", "php_tag")
"""Transforms of languages that accept any name of the source file."""
_RANDOM_BYTES = 4


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A planned program of a catalog language."""

    language: Language
    job: Job
    plan: Plan
    fixed_names: bool
    """It needs the file names of its toolchain, so only one such program can be in the workspace."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A checked request, ready to run in an environment."""

    request: RunRequest
    policy: Policy
    work: Command | HandlerCall | ProgramPlan


@dataclass(frozen=True, slots=True)
class RunPlanner:
    """Turns jobs into tasks, and requests into commands, handler calls and programs."""

    catalog: Catalog
    paths: GuestPaths
    request_limits: RequestLimits
    step_limits: StepLimits
    metrics: Metrics
    context_preset: str
    """Preset of the spawner of contexts."""

    @property
    def default_policy(self) -> Policy:
        """The policy of the most likely next box."""
        return self.paths.policies[self.paths.preset]

    def network(self, mode: str) -> Network | None:
        """Return the network that replaces the default one; None keeps the default. Raises Unavailable if the server has no
        such network."""
        default = self.default_policy.network
        if mode in ("", default.mode):
            return None
        if mode == "none":
            return Network()
        raise Unavailable("programs have no network here: set allow_network (SANDBOX_ALLOW_NETWORK) or request none")

    # Jobs.

    def task(self, job: Job, *, preset: str = "", sink: Sink | None = None, no_retry: bool = False) -> Task:
        """Check a job. Raises NotFound for an unknown language and InvalidRequest for a job out of bounds."""
        language = self.catalog.find(job.language)
        self.request_limits.check(job)
        return Task(language, job, sink=sink, preset=preset, no_retry=no_retry)

    def task_policy(self, task: Task) -> Policy:
        """Return the policy. A task with a build needs a single command, like a language without a compile step."""
        language = task.language
        two_commands = language.compile is not None and task.build is None and not task.only_build
        policy = self._policy(language, task.preset, single_use=not two_commands)
        limits = task.job.run_limits
        if (limits.disk_bytes, limits.disk_files) == (policy.disk_bytes, policy.disk_files):
            return policy
        return dataclasses.replace(policy, disk_bytes=limits.disk_bytes, disk_files=limits.disk_files)

    def task_plan(self, task: Task, workdir: str) -> Plan:
        paths, preset = self.paths, task.preset or self.paths.preset
        made = plan(task.language, task.job, Toolchain(paths.python, workdir, preset, task.link_flags, paths.toolchains))
        if not task.args:
            return made
        return dataclasses.replace(made, run=dataclasses.replace(made.run, argv=(*made.run.argv, *task.args)))

    def is_hermetic(self, task: Task) -> bool:
        """Whether the task depends only on staged files and installed software."""
        preset = task.preset or self.paths.preset
        return self.paths.policies[preset if task.language.warm else STD].network.mode == "none"

    def box_run(self, box: Box, task: Task, planned: Plan | None = None) -> BoxRun:
        """Return the run of a task in this box."""
        made = planned or task.plan or self.task_plan(task, box.workdir)
        return BoxRun(box, task, made, self.request_limits.quotas, self.metrics, self.step_limits)

    def toolchain_policy(self, language: Language) -> Policy:
        return dataclasses.replace(self.paths.policies[STD], toolchains=language.toolchain, gpu=language.gpu)

    # Requests of environments.

    def plan(self, request: RunRequest, workdir: str) -> PlannedRun:
        """Check a request. Link flags, which may need a check of the language first, are added when it runs."""
        if request.kind is ExecutionKind.command or request.terminal is not None:
            return PlannedRun(request, self.command_policy(), self._command(request))
        if self.is_handler_call(request):
            return self.handler_call(request)
        return self._program(request, workdir)

    def command_policy(self, network: Network | None = None) -> Policy:
        policy = dataclasses.replace(self.paths.policies[STD], toolchains=bool(self.paths.toolchain_bins))
        return policy if network is None else dataclasses.replace(policy, network=network)

    def context_policy(self) -> Policy:
        return dataclasses.replace(self.paths.policies[STD], preset=self.context_preset, single_use=True)

    def is_handler_call(self, request: RunRequest) -> bool:
        """Whether our own program must start the code, because more than its output is needed."""
        if request.kind is ExecutionKind.handler or request.variables:
            return True
        name = self.catalog.find(request.language).name
        return (request.call_handler and name in LANGUAGES) or (bool(request.modules) and name == PYTHON)

    def handler_call(self, request: RunRequest) -> PlannedRun:
        language = self.catalog.find(request.language)
        self._check_call(request, language)
        is_python = language.name == PYTHON
        call = HandlerCall(
            language=language.name,
            interpreter=(self.paths.python,) if is_python else (f"{self.paths.node_bin}/node",),
            code=request.code,
            limits=request.limits,
            name=request.filename,
            script=request.kind is not ExecutionKind.handler,
            call="must" if request.kind is ExecutionKind.handler else "found" if request.call_handler else "no",
            event=request.event,
            context=request.context.fields(request.limits),
            variables=request.variables,
            args=request.args,
            stdin=request.stdin,
            env={**dict(language.run.env), **({} if is_python else self.paths.node_env()), **request.env},
            modules=request.modules,
        )
        return PlannedRun(request, self.default_policy if is_python else self.toolchain_policy(language), call)

    def _command(self, request: RunRequest) -> Command:
        """Return the command: with arguments a program, without arguments a shell command line, on a terminal without either a
        shell."""
        argv = (request.code, *request.args) if request.args else (SHELL, "-c", request.code)
        if request.terminal is not None and not request.code:
            argv = (SHELL, "-i")
        env = self.paths.shell_env(request.modules, request.env)
        return Command(argv, stdin=request.stdin, env=env, limits=request.limits)

    def _program(self, request: RunRequest, workdir: str) -> PlannedRun:
        language = self.catalog.find(request.language)
        fixed_names = language.compile is not None or language.transform not in _ANY_NAME_TRANSFORMS or bool(language.assets)
        if request.filename:
            language = dataclasses.replace(language, source=_with_extension(request.filename, language))
        elif not fixed_names:
            language = dataclasses.replace(language, source=_unique_name(language.source))
        job = Job(language.name, request.code, request.stdin, compile_limits=request.limits, run_limits=request.limits)
        paths = self.paths
        made = plan(language, job, Toolchain(paths.python, workdir, paths.preset, toolchains=paths.toolchains))
        run = Step((*made.run.argv, *request.args), (*made.run.env, *request.env.items()))
        program = ProgramPlan(language, job, dataclasses.replace(made, run=run), fixed_names)
        return PlannedRun(request, self._policy(language, single_use=not fixed_names), program)

    def _policy(self, language: Language, preset: str = "", *, single_use: bool) -> Policy:
        policy = self.paths.policies[(preset or self.paths.preset) if language.warm else STD]
        if single_use and not language.toolchain and not language.gpu:
            return policy
        return dataclasses.replace(policy, single_use=single_use, toolchains=language.toolchain, gpu=language.gpu)

    def _check_call(self, request: RunRequest, language: Language) -> None:
        if language.name not in LANGUAGES:
            raise InvalidRequest(f"handlers must be Python or JavaScript, not {language.title}; run it as code")
        if request.variables and language.name != PYTHON:
            raise InvalidRequest(f"variables can be returned from Python only, not from {language.title}")
        if request.kind is ExecutionKind.handler:
            check_code(request.code)
        if language.name == JAVASCRIPT and not self.paths.node_bin:
            raise Unavailable(f"JavaScript is not installed: it needs {language.needs}")


def with_link_flags(program: ProgramPlan, flags: tuple[str, ...]) -> ProgramPlan:
    """Return the program with these flags at the end of its compile command."""
    step = program.plan.compile
    if not flags or step is None:
        return program
    made = dataclasses.replace(program.plan, compile=dataclasses.replace(step, argv=(*step.argv, *flags)))
    return dataclasses.replace(program, plan=made)


def _unique_name(source: str) -> str:
    stem, dot, extension = source.rpartition(".")
    return f"{stem or extension}_{secrets.token_hex(_RANDOM_BYTES)}{dot}{extension if stem else ''}"


def _with_extension(filename: str, language: Language) -> str:
    extensions = language.extensions or (language.source.rpartition(".")[2],)
    return filename if filename.rpartition(".")[2] in extensions else f"{filename}.{extensions[0]}"
