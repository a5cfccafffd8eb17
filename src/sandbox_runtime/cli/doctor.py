"""`sandbox doctor`: is this deployment what it claims to be? `--attack` tries everything."""

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

from sandbox_runtime.cli.attack_target import Key, Mine, OtherKey, ReadKey, Url, chosen, named_server
from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.errors import InvalidRequest, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.doctor import Attack, Diagnosis, LayerAssessment, Server, Verdict

All = Annotated[bool, typer.Option("--attack", help="Run the whole attack corpus, not only the short proof of each layer.")]
Listing = Annotated[bool, typer.Option("--list", help="Print the attacks by family, with the layers and guards they test.")]
Families = Annotated[
    list[str] | None,
    typer.Option("--family", metavar="NAME", help="With --attack: only this family; may be repeated.", show_default=False),
]
AsJson = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON to FILE, - for stdout.", show_default=False)
]

EXIT_FAILED = 1
EXIT_CANNOT_RUN = 2
HELP = "Exit code: 0 everything held, 1 something did not or a required layer is missing, 2 no box can be made here."


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
    """Attack this deployment and say which layers of isolation held.

    With --attack the corpus also attacks a server that is started for that alone; --url names one that runs instead.
    """
    from sandbox_runtime.cli.attack_list import print_corpus
    from sandbox_runtime.cli.doctor_report import print_diagnosis

    corpus = chosen(families or (), everything=everything or listing or url is not None)
    if listing:
        print_corpus(corpus)
        return
    server = named_server(url, key, other_key, read_key, mine=mine)
    settings = settings_from(config, ["log_level=error", *(sets or [])], isolation=isolation)
    if as_json not in (None, "-"):
        _write(as_json, {"ok": False, "isolation": settings.isolation, "failures": ["the examination did not come to its end"]})
    try:
        diagnosis = asyncio.run(_examine(settings, corpus, server, _progress(as_json)))
    except (Unavailable, PlatformFault) as error:
        _refuse(settings, error, as_json)
        raise typer.Exit(EXIT_CANNOT_RUN) from error
    if as_json is not None:
        _write(as_json, diagnosis.as_dict())
    if as_json != "-":
        print_diagnosis(diagnosis, verdicts=everything or server is not None)
    raise typer.Exit(EXIT_FAILED if diagnosis.failures else 0)


async def _examine(settings: Settings, corpus: Sequence[Attack], server: Server | None, progress: bool) -> Diagnosis:
    from sandbox_runtime.assembly.storage import describe_storage
    from sandbox_runtime.doctor import Diagnosis, attack_server, host

    tell = _Progress(len(corpus)) if progress else None
    layers: list[LayerAssessment] = []
    if server is not None:
        verdicts = await attack_server(server, [one for one in corpus if one.scenario == "client"], on_verdict=tell)
    else:
        layers, verdicts = await _attack(settings, corpus, tell)
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
    settings: Settings, corpus: Sequence[Attack], tell: Callable[[Verdict], None] | None
) -> tuple[list[LayerAssessment], list[Verdict]]:
    """Boxes first, and then, where the corpus holds attacks on it, a server that is started for them."""
    from sandbox_runtime.assembly import build_policies, open_configured_backend, parse_preset
    from sandbox_runtime.doctor import assess_layers, attack, attack_server

    clients = [one for one in corpus if one.scenario == "client"]
    async with open_configured_backend(settings) as backend:
        verdicts = await attack(
            backend,
            build_policies(settings)[parse_preset(settings)[0]],
            [one for one in corpus if one.scenario != "client"],
            python=settings.guest_python,
            state_dir=settings.state_dir,
            reopen=lambda: open_configured_backend(settings),
            on_verdict=tell,
        )
        layers = assess_layers(backend.layers(), verdicts)
    if clients:
        from sandbox_runtime.cli.temporary_server import throwaway_server

        async with throwaway_server(settings) as server:
            verdicts += await attack_server(server, clients, on_verdict=tell)
    return layers, verdicts


async def _backends(settings: Settings) -> dict[str, str]:
    """Which backends can open a box on this host. The one in use just has."""
    from sandbox_runtime.assembly import build_backend_options
    from sandbox_runtime.isolation.backends import NAMES, open_backend
    from sandbox_runtime.isolation.options import Preset
    from sandbox_runtime.model import Policy

    plain = dataclasses.replace(build_backend_options(settings), presets={"std": Preset()})
    found = {settings.isolation: "in use"}
    for name in NAMES:
        if name in found:
            continue
        try:
            async with open_backend(name, plain) as backend:
                await (await backend.open(Policy())).close()
            found[name] = "available" if name != "none" else "available, without any isolation"
        except SandboxError as error:
            found[name] = f"not available: {error}"
    return found


def _progress(as_json: str | None) -> bool:
    return as_json != "-" and sys.stderr.isatty()


class _Progress:
    """One line on a terminal that tells how far the corpus is."""

    def __init__(self, total: int) -> None:
        self._left = total

    def __call__(self, verdict: Verdict) -> None:
        self._left -= 1
        line = f"{self._left} to go: {verdict.attack}" if self._left else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _refuse(settings: Settings, error: SandboxError, as_json: str | None) -> None:
    if as_json is not None:
        _write(as_json, {"ok": False, "isolation": settings.isolation, "failures": [str(error)]})
    print(f"sandbox: isolation {settings.isolation} cannot make a box here: {error}", file=sys.stderr)


def _write(target: str, report: dict[str, object]) -> None:
    text = json.dumps(report, indent=2)
    if target == "-":
        print(text)
        return
    try:
        Path(target).write_text(text + "\n")
    except OSError as error:
        raise InvalidRequest(f"the report cannot be written to {target}: {error.strerror}") from error
