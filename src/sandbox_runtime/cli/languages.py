"""`sandbox languages`: list languages and check which work here; `sandbox languages install` installs toolchains."""

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
from sandbox_runtime.cli.output import AsJson, print_table
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages import Catalog, Language, assets_folder, load_catalog
from sandbox_runtime.languages.language import GROUPS
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.engine import LanguageStatus
    from sandbox_runtime.toolchains import InstallReport

ALL = "all"
EXIT_FAILED = 1
HELP = f"NAME is a language, a group ({', '.join(GROUPS)}) or {ALL}. Exit code: 0 if all of them work, else {EXIT_FAILED}."

Which = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="Only this language or group; repeatable.", show_default=False)
]
Names = Annotated[list[str] | None, typer.Argument(metavar="NAME…", help="Languages or groups to install.", show_default=False)]
Only = Annotated[bool, typer.Option("--list", help="List what would be installed and from where; install nothing.")]
Unchecked = Annotated[bool, typer.Option("--no-check", help="Skip the check that the languages work afterwards.")]
Again = Annotated[bool, typer.Option("--again", help="Reinstall what is already installed.")]


def register(app: typer.Typer) -> None:
    languages = typer.Typer(help="List languages, check which work here, install toolchains.", invoke_without_command=True)
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
    """Run the check program of every language and print which work here, their versions, and what the others need."""
    if context.invoked_subcommand:
        return
    settings = _settings(config, sets, isolation)
    catalog = load_catalog(settings.languages_dir)
    languages = [language for name in which or [ALL] for language in _select(catalog, name)]
    proofs = asyncio.run(_run_checks(settings, [language.name for language in languages]))
    rows = [_row(catalog.find(proof.language), proof, settings) for proof in proofs]
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(("language", "also called", "group", "works", "version, or why not"), [_table_row(row) for row in rows])


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
    languages = _select_for_install(load_catalog(settings.languages_dir), names or ([ALL] if only else []))
    if only:
        print_table(("language", "group", "MB", "from"), [_source(language) for language in languages])
        return
    reports = _install(settings, languages, again)
    fine = _print_failures(reports) if unchecked else _check_installed(settings, reports)
    raise typer.Exit(0 if fine else EXIT_FAILED)


def _settings(config: Path | None, sets: list[str] | None, isolation: str | None) -> Settings:
    return settings_from(config, ["log_level=error", *(sets or [])], isolation=isolation)


def _select_for_install(catalog: Catalog, names: Sequence[str]) -> list[Language]:
    if not names:
        raise InvalidRequest(
            f"name what to install: languages, {', '.join(GROUPS)} or {ALL}; `sandbox languages install --list` lists them"
        )
    return catalog.with_dependencies(language for name in names for language in _select(catalog, name))


def _select(catalog: Catalog, name: str) -> list[Language]:
    if name in (ALL, *GROUPS):
        return [language for language in catalog if name in (ALL, language.group)]
    return [catalog.find(name)]


def _install(settings: Settings, languages: Sequence[Language], again: bool) -> list[InstallReport]:
    from sandbox_runtime.toolchains import Installer

    installer = Installer(Path(settings.toolchains_dir), settings.guest_python, assets_folder, _progress)
    return installer.install(languages, reinstall=again)


def _check_installed(settings: Settings, reports: Sequence[InstallReport]) -> bool:
    """Print the checks and return whether all available languages work."""
    installed = [report.language for report in reports if report.state in ("installed", "present")]
    proofs = {proof.language: proof for proof in asyncio.run(_run_checks(settings, installed))} if installed else {}
    titles = ("language", "toolchain", "works", "version, or why not")
    print_table(titles, [_install_row(report, proofs.get(report.language)) for report in reports])
    return all(_is_ok(report, proofs.get(report.language)) for report in reports)


def _print_failures(reports: Sequence[InstallReport]) -> bool:
    for report in reports:
        if report.reason:
            _progress(f"{report.language} is {report.state}: {report.reason}")
    return not any(report.state == "failed" for report in reports)


def _progress(line: str) -> None:
    print(f"languages: {line}", file=sys.stderr, flush=True)


async def _run_checks(settings: Settings, names: Sequence[str]) -> tuple[LanguageStatus, ...]:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, prewarm=False) as platform:
        return await platform.engine.languages(names, fresh=True)


def _row(language: Language, proof: LanguageStatus, settings: Settings) -> dict[str, object]:
    """`prepared`: files that the installation generates for faster starts or compilation exist and match the compiler."""
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


def _table_row(row: dict[str, object]) -> tuple[str, ...]:
    aliases = row["aliases"]
    assert isinstance(aliases, list)
    enabled = bool(row["enabled"])
    return (
        str(row["name"]),
        ", ".join(aliases),
        str(row["group"]),
        _yes(enabled),
        f"{row['version']}{_slow_note(row)}" if enabled else str(row["reason"]),
    )


def _slow_note(row: dict[str, object]) -> str:
    return "" if row["prepared"] else f" (faster after: sandbox languages install {row['name']})"


def _install_row(report: InstallReport, proof: LanguageStatus | None) -> tuple[str, ...]:
    enabled = proof is not None and proof.enabled
    detail = report.reason if proof is None else proof.version if enabled else proof.reason
    return report.language, f"{report.state}{_seconds(report.wall_s)}", _yes(enabled), detail


def _is_ok(report: InstallReport, proof: LanguageStatus | None) -> bool:
    """A language that is unavailable on this host does not count as failed."""
    return report.state == "unavailable" or (proof is not None and proof.enabled)


def _source(language: Language) -> tuple[str, ...]:
    install = dataclasses.asdict(language.install)
    packages = [f"{client}: {' '.join(install[client])}" for client in ("apt", "pip", "npm", "maven", "go") if install[client]]
    route = language.install.unavailable or "; ".join(packages) or f"nothing to install; it needs {language.needs}"
    return language.name, language.group, str(language.install.megabytes or ""), route


def _yes(works: bool) -> str:
    return "yes" if works else "no"


def _seconds(wall_s: float) -> str:
    return f" ({wall_s:.0f} s)" if wall_s else ""
