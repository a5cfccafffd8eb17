"""`sandbox languages`: which there are and which work here; `sandbox languages install` brings their toolchains."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.cli.tables import print_table
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages import Catalog, Language, assets_folder, load_catalog
from sandbox_runtime.languages.language import GROUPS
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.engine import LanguageStatus
    from sandbox_runtime.toolchains import InstallReport

ALL = "all"
EXIT_FAILED = 1
HELP = f"NAME is a language, a group ({', '.join(GROUPS)}) or {ALL}. Exit code: 0 all of them work, {EXIT_FAILED} some do not."

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
Which = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="A language or group; may be repeated.", show_default=False)
]
Names = Annotated[list[str] | None, typer.Argument(metavar="NAME…", help="Languages or groups.", show_default=False)]
Only = Annotated[bool, typer.Option("--list", help="Tell what would be installed and from where; install nothing.")]
Unchecked = Annotated[bool, typer.Option("--no-check", help="Do not run the checks of the languages afterwards.")]
Again = Annotated[bool, typer.Option("--again", help="Also what is installed already.")]


def register(app: typer.Typer) -> None:
    languages = typer.Typer(help="Which languages there are, and which work here.", invoke_without_command=True)
    languages.callback()(show)
    languages.command("install", epilog=HELP)(install)
    app.add_typer(languages, name="languages")


def show(
    context: typer.Context,
    which: Which = None,
    as_json: AsJson = False,
    isolation: Isolation = None,
    config: Config = None,
    sets: Set = None,
) -> None:
    """Run the check of every language and tell which work here, in which version, and what the others lack."""
    if context.invoked_subcommand:
        return
    settings = _settings(config, sets, isolation)
    catalog = load_catalog(settings.languages_dir)
    chosen = [language for name in which or [ALL] for language in _named(catalog, name)]
    proofs = asyncio.run(_prove(settings, [language.name for language in chosen]))
    rows = [_row(catalog.find(proof.language), proof, settings) for proof in proofs]
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(("language", "also called", "group", "works", "version, or why not"), [_shown(row) for row in rows])


def install(
    names: Names = None,
    only: Only = False,
    again: Again = False,
    unchecked: Unchecked = False,
    isolation: Isolation = None,
    config: Config = None,
    sets: Set = None,
) -> None:
    """Install toolchains with the package clients of this machine, then check that their languages work."""
    settings = _settings(config, sets, isolation)
    chosen = _chosen(load_catalog(settings.languages_dir), names or ([ALL] if only else []))
    if only:
        print_table(("language", "group", "MB", "from"), [_route(language) for language in chosen])
        return
    reports = _install(settings, chosen, again)
    fine = _told_briefly(reports) if unchecked else _checked(settings, reports)
    raise typer.Exit(0 if fine else EXIT_FAILED)


def _settings(config: Path | None, sets: list[str] | None, isolation: str | None) -> Settings:
    return settings_from(config, ["log_level=error", *(sets or [])], isolation=isolation)


def _chosen(catalog: Catalog, names: Sequence[str]) -> list[Language]:
    if not names:
        raise InvalidRequest(
            f"say which languages: names, {', '.join(GROUPS)} or {ALL}; `sandbox languages install --list` tells"
        )
    return catalog.with_dependencies(language for name in names for language in _named(catalog, name))


def _named(catalog: Catalog, name: str) -> list[Language]:
    if name in (ALL, *GROUPS):
        return [language for language in catalog if name in (ALL, language.group)]
    return [catalog.find(name)]


def _install(settings: Settings, languages: Sequence[Language], again: bool) -> list[InstallReport]:
    from sandbox_runtime.toolchains import Installer

    installer = Installer(Path(settings.toolchains_dir), settings.guest_python, assets_folder, _progress)
    return installer.install(languages, reinstall=again)


def _checked(settings: Settings, reports: Sequence[InstallReport]) -> bool:
    """Whether all work that can be had at all."""
    there = [report.language for report in reports if report.state in ("installed", "present")]
    proofs = {proof.language: proof for proof in asyncio.run(_prove(settings, there))} if there else {}
    titles = ("language", "toolchain", "works", "version, or why not")
    print_table(titles, [_told(report, proofs.get(report.language)) for report in reports])
    return all(_fine(report, proofs.get(report.language)) for report in reports)


def _told_briefly(reports: Sequence[InstallReport]) -> bool:
    for report in reports:
        if report.reason:
            _progress(f"{report.language} is {report.state}: {report.reason}")
    return not any(report.state == "failed" for report in reports)


def _progress(line: str) -> None:
    print(f"languages: {line}", file=sys.stderr, flush=True)


async def _prove(settings: Settings, names: Sequence[str]) -> tuple[LanguageStatus, ...]:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, prewarm=False) as platform:
        return await platform.engine.languages(names, fresh=True)


def _row(language: Language, proof: LanguageStatus, settings: Settings) -> dict[str, object]:
    """prepared: what its installation makes to have it start or compile faster is there and belongs to its compiler."""
    from sandbox_runtime.toolchains import is_installed

    prepared = not language.install.after or is_installed(Path(settings.toolchains_dir), language, assets_folder(language))
    return {
        "name": language.name,
        "title": language.title,
        "aliases": list(language.aliases),
        "group": language.group,
        "enabled": proof.enabled,
        "version": proof.version,
        "reason": proof.reason,
        "prepared": prepared,
    }


def _shown(row: dict[str, object]) -> tuple[str, ...]:
    aliases = row["aliases"]
    assert isinstance(aliases, list)
    enabled = bool(row["enabled"])
    return (
        str(row["name"]),
        ", ".join(aliases),
        str(row["group"]),
        _yes(enabled),
        f"{row['version']}{_slower(row)}" if enabled else str(row["reason"]),
    )


def _slower(row: dict[str, object]) -> str:
    return "" if row["prepared"] else f" (faster after: sandbox languages install {row['name']})"


def _told(report: InstallReport, proof: LanguageStatus | None) -> tuple[str, ...]:
    enabled = proof is not None and proof.enabled
    detail = report.reason if proof is None else proof.version if enabled else proof.reason
    return report.language, f"{report.state}{_seconds(report.wall_s)}", _yes(enabled), detail


def _fine(report: InstallReport, proof: LanguageStatus | None) -> bool:
    """A language that cannot be had at all is no failure of this installation."""
    return report.state == "unavailable" or (proof is not None and proof.enabled)


def _route(language: Language) -> tuple[str, ...]:
    install = dataclasses.asdict(language.install)
    packages = [f"{client}: {' '.join(install[client])}" for client in ("apt", "pip", "npm", "maven", "go") if install[client]]
    route = language.install.unavailable or "; ".join(packages) or f"nothing to install; it needs {language.needs}"
    return language.name, language.group, str(language.install.megabytes or ""), route


def _yes(works: bool) -> str:
    return "yes" if works else "no"


def _seconds(wall_s: float) -> str:
    return f" ({wall_s:.0f} s)" if wall_s else ""
