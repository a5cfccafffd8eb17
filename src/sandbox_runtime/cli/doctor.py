"""`sandbox doctor`: verify the isolation of this deployment by attacking it."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.attacks import Key, Mine, OtherKey, ReadKey, Url, parse_server, print_corpus, select_attacks
from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.cli.output import write_text
from sandbox_runtime.errors import PlatformFault, SandboxError, Unavailable
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.doctor import Attack, Diagnosis, LayerAssessment, Server, Verdict

All = Annotated[bool, typer.Option("--attack", help="Run the whole attack corpus instead of one short check per layer.")]
Listing = Annotated[bool, typer.Option("--list", help="List the attacks by family, with the layers and guards they test.")]
Families = Annotated[
    list[str] | None,
    typer.Option("--family", metavar="NAME", help="With --attack or --list: only this family; repeatable.", show_default=False),
]
AsJson = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON to FILE; - for stdout.", show_default=False)
]

EXIT_FAILED = 1
EXIT_CANNOT_RUN = 2
HELP = "Exit code: 0 all attacks failed, 1 an attack succeeded or a required layer is missing, 2 no box can be created here."


def register(app: typer.Typer) -> None:
    app.command("doctor", epilog=HELP)(doctor)


def doctor(
    everything: All = False,
    listing: Listing = False,
    families: Families = None,
    url: Url = None,
    key: Key = None,
    other_key: OtherKey = None,
    read_key: ReadKey = None,
    mine: Mine = False,
    as_json: AsJson = None,
    isolation: Isolation = None,
    config: Config = None,
    sets: Set = None,
) -> None:
    """Attack this deployment and report which isolation layers held.

    --attack also attacks a temporary server; --url attacks a running one instead.
    """
    from sandbox_runtime.cli.doctor_report import print_diagnosis

    corpus = select_attacks(families or (), everything=everything or listing or url is not None)
    if listing:
        print_corpus(corpus)
        return
    server = parse_server(url, key, other_key, read_key, mine=mine)
    settings = settings_from(config, ["log_level=error", *(sets or [])], isolation=isolation)
    if as_json not in (None, "-"):
        _write(as_json, {"ok": False, "isolation": settings.isolation, "failures": ["the examination did not finish"]})
    try:
        diagnosis = asyncio.run(_examine(settings, corpus, server, _shows_progress(as_json)))
    except (Unavailable, PlatformFault) as error:
        _report_unusable(settings, error, as_json)
        raise typer.Exit(EXIT_CANNOT_RUN) from error
    if as_json is not None:
        _write(as_json, diagnosis.as_dict())
    if as_json != "-":
        print_diagnosis(diagnosis, verdicts=everything or server is not None)
    raise typer.Exit(EXIT_FAILED if diagnosis.failures else 0)


async def _examine(settings: Settings, corpus: Sequence[Attack], server: Server | None, progress: bool) -> Diagnosis:
    from sandbox_runtime.assembly.storage import describe_storage
    from sandbox_runtime.doctor import Diagnosis, attack_server, host

    on_verdict = _Progress(len(corpus)) if progress else None
    layers: list[LayerAssessment] = []
    if server is not None:
        clients = [attack for attack in corpus if attack.scenario == "client"]
        verdicts = await attack_server(server, clients, on_verdict=on_verdict)
    else:
        layers, verdicts = await _attack(settings, corpus, on_verdict)
    return Diagnosis(
        isolation=settings.isolation if server is None else f"the server at {server.url}",
        as_root=os.geteuid() == 0,
        host={**host.facts(settings.guest_python), **(describe_storage(settings) if server is None else {})},
        backends=await _backends(settings) if server is None else {},
        warnings=host.warnings(),
        layers=layers,
        verdicts=verdicts,
    )


async def _attack(
    settings: Settings, corpus: Sequence[Attack], on_verdict: Callable[[Verdict], None] | None
) -> tuple[list[LayerAssessment], list[Verdict]]:
    """Attack boxes, then a temporary server if the corpus has attacks on servers."""
    from sandbox_runtime.assembly import build_policies, open_configured_backend, parse_preset
    from sandbox_runtime.doctor import assess_layers, attack, attack_server

    clients = [case for case in corpus if case.scenario == "client"]
    async with open_configured_backend(settings) as backend:
        verdicts = await attack(
            backend,
            build_policies(settings)[parse_preset(settings)[0]],
            [case for case in corpus if case.scenario != "client"],
            python=settings.guest_python,
            state_dir=settings.state_dir,
            reopen=lambda: open_configured_backend(settings),
            on_verdict=on_verdict,
        )
        layers = assess_layers(backend.layers(), verdicts)
    if clients:
        from sandbox_runtime.cli.temporary_server import temporary_server

        async with temporary_server(settings) as server:
            verdicts += await attack_server(server, clients, on_verdict=on_verdict)
    return layers, verdicts


async def _backends(settings: Settings) -> dict[str, str]:
    """Return for each backend whether it can open a box on this host. The one in use just did."""
    from sandbox_runtime.assembly import build_backend_options
    from sandbox_runtime.isolation.backends import NAMES, open_backend
    from sandbox_runtime.isolation.options import Preset
    from sandbox_runtime.model import Policy

    plain = dataclasses.replace(build_backend_options(settings), presets={"std": Preset()})
    states = {settings.isolation: "in use"}
    for name in NAMES:
        if name in states:
            continue
        try:
            async with open_backend(name, plain) as backend:
                await (await backend.open(Policy())).close()
            states[name] = "available" if name != "none" else "available, without any isolation"
        except SandboxError as error:
            states[name] = f"not available: {error}"
    return states


def _shows_progress(as_json: str | None) -> bool:
    return as_json != "-" and sys.stderr.isatty()


class _Progress:
    """A progress line on the terminal."""

    def __init__(self, total: int) -> None:
        self._left = total

    def __call__(self, verdict: Verdict) -> None:
        self._left -= 1
        line = f"{self._left} to go: {verdict.attack}" if self._left else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _report_unusable(settings: Settings, error: SandboxError, as_json: str | None) -> None:
    if as_json is not None:
        _write(as_json, {"ok": False, "isolation": settings.isolation, "failures": [str(error)]})
    print(f"sandbox: isolation {settings.isolation} cannot create a box here: {error}", file=sys.stderr)


def _write(target: str, report: dict[str, object]) -> None:
    text = json.dumps(report, indent=2)
    if target == "-":
        print(text)
        return
    write_text(Path(target), text + "\n")
