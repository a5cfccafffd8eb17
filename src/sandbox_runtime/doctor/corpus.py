"""The attack corpus: data folders, each an attack.toml and its programs.

attack.toml:

    title   one sentence: what it tries
    family  the group that it is shown in (families.py)
    scene   alone    one program in one box (the default)
            again    `first`, then `second` in the same box
            after    `first` in one box, which is closed; then `second` in another
            beside   `first` in one box; while it waits, `second` in another
            host     as alone, with canaries on the host (canaries.py) that it may try to reach
            upload   names and contents from outside, into a box that `program`, if there is one, has prepared
            fetch    names read from outside, out of a box in which `program` has planted things
            files    [[step]]s done to the files of a box from outside (file_steps.py), while or after `program` runs in it;
                     then `second`, if there is one, in the last box that a step filled
            lab      `program` in a box with a network, in a network of namespaces that the attack makes itself (network_lab.py);
                     `first`, if there is one, waits in a neighbour box meanwhile
            client   client.py on the host, against a running server (client_side/target.py)
    layers  layers of the box that stop it, each by itself
    guards  what stops it in the server (server_guards.py); an attack names a layer or a guard
    shows   layers and guards without which it succeeds: these attacks prove that the layer or guard does something
    unless  where even those do not let it succeed, because the host itself refuses
    needs   what the deployment must have for it to make sense (NEEDS)
    quick   whether it belongs to the short proof
    endings how its programs may end (exited); one that exited must also say HELD
    denied  system calls that must be counted as refused
    server_cpu_s  the most that it may cost the server of its own time
    alongside  for upload, fetch and files: the program goes on while names or steps are tried, `rounds` times
    keys    for client: the kinds of key it needs besides the first (other, read)
    [limits] and [policy]: bounds of the commands and of the box, where they differ from the corpus's own
    [[upload]] name, content, refused: whether the name must be refused or land inside
    [[fetch]] name, content: what must come out ("" where nothing may), or refused = true

A program is program.py, run by the guest's interpreter, or program.sh, run by bash; likewise first and second. It prints
`HELD: why` when it was stopped, `ESCAPED: what` when it was not, and `READY words` where the other one may begin. What programs
have in common is in probe.py.
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
        "own_devices": "the device nodes of a box are the host's own here: only namespaces as root can make some for each box",
        "no_network": "boxes of this deployment have a network",
        "root": "only root can make the network namespaces and addresses that this attack needs",
        "own_server": "it is only tried on a server that doctor starts for itself",
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
    """A name from outside. refused: it must not be accepted. content: what goes in, or must come out."""

    name: str
    content: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Attack:
    """shows, shows_guards: without which it succeeds. keys: kinds of key that its client needs besides the first."""

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
    """Every attack of a folder, by name. A folder that is not as it should be raises InvalidRequest."""
    found = tuple(read_attack(path.parent) for path in sorted(folder.glob("*/attack.toml")))
    if not found:
        raise InvalidRequest(f"there are no attacks in {folder}")
    return found


def read_attack(folder: Path) -> Attack:
    try:
        table = tomllib.loads((folder / "attack.toml").read_text())
        return _attack(folder, table)
    except (OSError, KeyError, ValueError, TypeError, InvalidRequest) as error:
        raise InvalidRequest(f"the attack {folder.name} cannot be read: {type(error).__name__}: {error}") from error


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
        raise ValueError(f"unknown words: {', '.join(unknown)}")
    if table.keys() & {"policy"} and table["policy"].keys() - {"disk_bytes", "disk_files"}:
        raise ValueError("policy takes disk_bytes and disk_files")


def _check_parts(attack: Attack) -> None:
    missing = [role for role in SCENARIOS[attack.scenario] if role not in attack.programs]
    if missing:
        raise ValueError(f"no program for {', '.join(missing)}")
    if not (set(attack.shows) <= set(attack.layers) and set(attack.shows_guards) <= set(attack.guards)):
        raise ValueError("shows names a layer or a guard that is not among layers and guards")
    named = {"upload": attack.uploads, "fetch": attack.fetches, "files": attack.steps}
    if attack.scenario in named and not named[attack.scenario]:
        raise ValueError("no names or steps")
    if not attack.layers and not attack.guards:
        raise ValueError("neither layers nor guards are named")


def _programs(folder: Path) -> dict[str, Program]:
    found = {}
    for role in _ROLES:
        for suffix in _SUFFIXES:
            path = folder / f"{role}{suffix}"
            if path.is_file():
                found[role] = Program(path.name, path.read_bytes())
    return found


def _names(rows: Iterable[dict[str, Any]]) -> tuple[Name, ...]:
    return tuple(Name(**row) for row in rows)
