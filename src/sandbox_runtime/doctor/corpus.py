"""The attack corpus: one folder per attack, with an attack.toml and its programs.

attack.toml:

    title     one sentence: what the attack tries
    family    the group in which it is shown (families.py)
    scenario  alone    one program in one box (the default)
              again    `first`, then `second` in the same box
              after    `first` in one box, which is closed; then `second` in another
              beside   `first` in one box; while it waits, `second` in another
              host     like alone, with canaries on the host (canaries.py) that it may try to reach
              upload   names and contents are written from outside, into a box that an optional `program` has prepared
              fetch    names are read from outside, from a box that `program` has prepared
              files    [[step]]s are applied to the files of a box from outside (file_steps.py), while or after an optional
                       `program` runs in it; then an optional `second` runs in the last box that a step filled
              lab      `program` in a box with a network, inside a network of namespaces that the attack creates
                       (network_lab.py); an optional `first` waits in a neighbour box meanwhile
              client   client.py on the host, against a running server (client_side/target.py)
    layers    layers of the box, each of which stops the attack by itself
    guards    what stops it in the server (server_guards.py); an attack names at least one layer or guard
    shows     layers and guards without which it succeeds; these attacks prove that the layer or guard works
    unless    hosts on which it fails even without those, because the host itself refuses
    needs     what the deployment must have for the attack to apply (NEEDS)
    quick     whether it belongs to the short check
    endings   how its programs may end (default: exited); a program that exited must also print HELD
    denied    system calls that must be counted as refused
    server_cpu_s  how much cpu time of the server it may cost
    alongside for upload, fetch and files: the program keeps running while names or steps are tried, `rounds` times
    keys      for client: kinds of keys that it needs besides `own` (other, read)
    [limits] and [policy]: limits of the commands and of the box that differ from the defaults
    [[upload]] name, content, refused: whether the name must be refused, or the content must land inside
    [[fetch]] name, content: what must be read ("" for nothing), or refused = true

A program is program.py, run by the guest's interpreter, or program.sh, run by bash; likewise first and second. It prints `HELD:
reason` when it was stopped, `ESCAPED: what` when it was not, and `READY text` when the other program may begin. probe.py
contains what programs share.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox_runtime.doctor.families import Family
from sandbox_runtime.doctor.file_steps import Step, read_step
from sandbox_runtime.doctor.server_guards import Guard
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Ending, Layer, Limits
from sandbox_runtime.model.limits import MIB

CORPUS = Path(__file__).parent / "attacks"
SCENARIOS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "alone": ("program",),
        "host": ("program",),
        "again": ("first", "second"),
        "after": ("first", "second"),
        "beside": ("first", "second"),
        "upload": (),
        "fetch": ("program",),
        "files": (),
        "lab": ("program",),
        "client": ("client",),
    }
)
NEEDS: Mapping[str, str] = MappingProxyType(
    {
        "x86_64": "only x86-64 machines have these calls",
        "own_devices": "boxes share the host's device nodes here; only namespaces as root creates its own for each box",
        "no_network": "boxes of this deployment have a network",
        "root": "only root can create the network namespaces and addresses that this attack needs",
        "own_server": "it runs only against a server that doctor starts itself",
        "contexts": "contexts can be copied with the backend namespaces on x86-64 only",
    }
)
DEFAULT_LIMITS = Limits(wall_s=20.0, memory_bytes=256 * MIB, processes=64, output_bytes=4 * MIB)
_TEXT_KEYS = ("title", "family", "scenario", "layers", "guards", "shows", "unless", "needs", "endings", "denied", "keys")
_OTHER_KEYS = ("quick", "alongside", "rounds", "server_cpu_s", "limits", "policy", "upload", "fetch", "step")
_KEYS = frozenset((*_TEXT_KEYS, *_OTHER_KEYS))
_ROLES = ("program", "first", "second", "client")
KEY_KINDS = ("other", "read")
_SUFFIXES = (".py", ".sh")


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Name:
    """A file name used from outside.

    content: what is written, or must be read.
    refused: whether the name must be refused.
    """

    name: str
    content: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack; corpus.py describes the fields. shows_guards: the guards among `shows`."""

    name: str
    title: str
    family: Family
    scenario: str
    layers: tuple[Layer, ...]
    guards: tuple[Guard, ...]
    shows: tuple[Layer, ...]
    shows_guards: tuple[Guard, ...]
    unless: str
    needs: tuple[str, ...]
    keys: tuple[str, ...]
    quick: bool
    endings: frozenset[Ending]
    denied: tuple[str, ...]
    server_cpu_s: float | None
    alongside: bool
    rounds: int
    limits: Limits
    disk_bytes: int
    disk_files: int
    programs: Mapping[str, Program]
    uploads: tuple[Name, ...]
    fetches: tuple[Name, ...]
    steps: tuple[Step, ...]


def load_corpus(folder: Path = CORPUS) -> tuple[Attack, ...]:
    """Return every attack of a folder, by name. Raises InvalidRequest for a malformed one."""
    attacks = tuple(read_attack(path.parent) for path in sorted(folder.glob("*/attack.toml")))
    if not attacks:
        raise InvalidRequest(f"no attacks found in {folder}")
    return attacks


def read_attack(folder: Path) -> Attack:
    try:
        table = tomllib.loads((folder / "attack.toml").read_text())
        return _attack(folder, table)
    except (OSError, KeyError, ValueError, TypeError, InvalidRequest) as error:
        raise InvalidRequest(f"cannot read the attack {folder.name}: {type(error).__name__}: {error}") from error


def _attack(folder: Path, table: dict[str, Any]) -> Attack:
    _check(table)
    shows = table.get("shows", ())
    attack = Attack(
        name=folder.name,
        title=table["title"],
        family=Family(table["family"]),
        scenario=table.get("scenario", "alone"),
        layers=tuple(Layer(name) for name in table.get("layers", ())),
        guards=tuple(Guard(name) for name in table.get("guards", ())),
        shows=tuple(Layer(name) for name in shows if name not in set(Guard)),
        shows_guards=tuple(Guard(name) for name in shows if name in set(Guard)),
        unless=table.get("unless", ""),
        needs=tuple(table.get("needs", ())),
        keys=tuple(table.get("keys", ())),
        quick=table.get("quick", False),
        endings=frozenset(Ending(name) for name in table.get("endings", ("exited",))),
        denied=tuple(table.get("denied", ())),
        server_cpu_s=table.get("server_cpu_s"),
        alongside=table.get("alongside", False),
        rounds=table.get("rounds", 1),
        limits=DEFAULT_LIMITS.replace(**table.get("limits", {})),
        disk_bytes=table.get("policy", {}).get("disk_bytes", DEFAULT_LIMITS.disk_bytes),
        disk_files=table.get("policy", {}).get("disk_files", DEFAULT_LIMITS.disk_files),
        programs=MappingProxyType(_programs(folder)),
        uploads=_names(table.get("upload", ())),
        fetches=_names(table.get("fetch", ())),
        steps=tuple(read_step(row) for row in table.get("step", ())),
    )
    _check_parts(attack)
    return attack


def _check(table: dict[str, Any]) -> None:
    unknown = [
        *(table.keys() - _KEYS),
        *(set(table.get("needs", ())) - NEEDS.keys()),
        *(set(table.get("keys", ())) - set(KEY_KINDS)),
    ]
    if unknown:
        raise ValueError(f"unknown keys or values: {', '.join(unknown)}")
    if table.keys() & {"policy"} and table["policy"].keys() - {"disk_bytes", "disk_files"}:
        raise ValueError("policy allows only disk_bytes and disk_files")


def _check_parts(attack: Attack) -> None:
    missing = [role for role in SCENARIOS[attack.scenario] if role not in attack.programs]
    if missing:
        raise ValueError(f"no program for {', '.join(missing)}")
    if not (set(attack.shows) <= set(attack.layers) and set(attack.shows_guards) <= set(attack.guards)):
        raise ValueError("shows contains a layer or guard that is missing from layers and guards")
    inputs = {"upload": attack.uploads, "fetch": attack.fetches, "files": attack.steps}
    if attack.scenario in inputs and not inputs[attack.scenario]:
        raise ValueError("no names or steps are given")
    if not attack.layers and not attack.guards:
        raise ValueError("layers and guards are both empty; name at least one")


def _programs(folder: Path) -> dict[str, Program]:
    programs = {}
    for role in _ROLES:
        for suffix in _SUFFIXES:
            path = folder / f"{role}{suffix}"
            if path.is_file():
                programs[role] = Program(path.name, path.read_bytes())
    return programs


def _names(rows: Iterable[dict[str, Any]]) -> tuple[Name, ...]:
    return tuple(Name(**row) for row in rows)
