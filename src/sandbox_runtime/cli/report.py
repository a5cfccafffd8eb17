"""A diagnosis as a person reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sandbox_runtime.proof import Diagnosis, Family, LayerProof, Standing, State, Verdict

_STYLE = {
    Standing.proven: "green",
    Standing.unproven: "red",
    Standing.broken: "bold red",
    Standing.missing: "yellow",
    Standing.impossible: "yellow",
    State.held: "green",
    State.escaped: "bold red",
    State.inconclusive: "red",
    State.not_applicable: "dim",
}
_ORDER = (State.escaped, State.inconclusive, State.held, State.not_applicable)


def print_diagnosis(diagnosis: Diagnosis, *, verdicts: bool) -> None:
    """verdicts: whether each attack gets a line of its own."""
    console = Console()
    console.print(_facts(diagnosis.host, diagnosis.backends))
    console.print(_layers(diagnosis.layers))
    for family in Family if verdicts else ():
        found = [verdict for verdict in diagnosis.verdicts if verdict.family is family]
        if found:
            console.print(Text(f"{family}: {family.about}", style="bold"))
            console.print(_attacks(found))
    for line in _conclusion(diagnosis):
        console.print(line)


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE)
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def _facts(host: Mapping[str, str], backends: Mapping[str, str]) -> Table:
    table = _table("host", "")
    for name, value in (*host.items(), *((f"isolation {name}", state) for name, state in backends.items())):
        table.add_row(Text(name), Text(value))
    return table


def _layers(layers: Iterable[LayerProof]) -> Table:
    table = _table("layer", "standing", "attacks held", "detail", "fix")
    for proof in layers:
        standing = Text(proof.standing, style=_STYLE[proof.standing])
        table.add_row(Text(proof.layer), standing, Text(str(proof.attacks)), Text(proof.detail), Text(proof.fix))
    return table


def _attacks(verdicts: Sequence[Verdict]) -> Table:
    table = _table("attack", "verdict", "ms", "what it tries", "what came of it")
    for verdict in sorted(verdicts, key=lambda verdict: _ORDER.index(verdict.state)):
        state = Text(verdict.state.replace("_", " "), style=_STYLE[verdict.state])
        table.add_row(
            Text(verdict.attack), state, Text(f"{verdict.wall_s * 1000:.0f}"), Text(verdict.title), Text(verdict.reason)
        )
    return table


def _conclusion(diagnosis: Diagnosis) -> list[Text]:
    lines = [Text(f"warning: {warning.text}; fix: {warning.fix}", style="yellow") for warning in diagnosis.warnings]
    for proof in diagnosis.weaker:
        lines.append(Text(f"warning: {proof.layer} is weaker as a plain user: {proof.detail}", style="yellow"))
    lines += [Text(f"failed: {failure}", style="red") for failure in diagnosis.failures]
    counts = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in sorted(diagnosis.counts().items()))
    verdict = "this deployment is NOT to be trusted" if diagnosis.failures else "everything held"
    lines.append(Text(f"{diagnosis.isolation}: {verdict} ({counts})", style="bold red" if diagnosis.failures else "bold green"))
    return lines
