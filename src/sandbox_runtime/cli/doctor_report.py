"""Print a diagnosis: a line for each fact, layer and attack, and details for failures only.

Lines are cut to the width of the terminal, or to 80 columns without one. The JSON report (`--json`) contains the full text.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from sandbox_runtime.doctor import Diagnosis, Family, LayerAssessment, LayerStanding, State, Verdict

_STYLE = {
    LayerStanding.proven: "green",
    LayerStanding.unproven: "red",
    LayerStanding.broken: "bold red",
    LayerStanding.missing: "yellow",
    LayerStanding.impossible: "yellow",
    State.held: "green",
    State.escaped: "bold red",
    State.inconclusive: "red",
    State.not_applicable: "dim",
}
_ORDER = (State.escaped, State.inconclusive, State.held, State.not_applicable)
_INDENT = "    "
_MIN_COLUMNS = 40


def print_diagnosis(diagnosis: Diagnosis, *, verdicts: bool) -> None:
    """`verdicts`: print a line for each attack."""
    console = Console(highlight=False)
    columns = max(console.width, _MIN_COLUMNS)
    for line in format_diagnosis(diagnosis, columns, verdicts=verdicts):
        console.print(line, no_wrap=True, overflow="ignore", crop=False)


def format_diagnosis(diagnosis: Diagnosis, columns: int, *, verdicts: bool) -> Iterator[Text]:
    yield from _facts(diagnosis.host, diagnosis.backends, columns)
    yield Text()
    yield from _layers(diagnosis.layers, columns)
    for family in Family if verdicts else ():
        of_family = [verdict for verdict in diagnosis.verdicts if verdict.family is family]
        if of_family:
            yield Text()
            yield from _wrap(f"{family}: {family.about}", columns, "bold")
            yield from _attacks(of_family, columns)
    yield Text()
    for text, style in _conclusion(diagnosis):
        yield from _wrap(text, columns, style)


def _facts(host: Mapping[str, str], backends: Mapping[str, str], columns: int) -> Iterator[Text]:
    rows = [*host.items(), *((f"isolation {name}", state) for name, state in backends.items())]
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        yield from _wrap(f"{name:<{width}}  {value}", columns)


def _layers(layers: Sequence[LayerAssessment], columns: int) -> Iterator[Text]:
    width = max((len(proof.layer) for proof in layers), default=0)
    for proof in layers:
        held = f"{proof.attacks} attack{'' if proof.attacks == 1 else 's'} held"
        yield _line((f"{proof.standing:<10}", _STYLE[proof.standing]), (f"  {proof.layer:<{width}}  {held}", ""), columns=columns)
        if proof.standing is not LayerStanding.proven:
            yield from _detail_lines(columns, proof.detail, f"fix: {proof.fix}" if proof.fix else "")


def _attacks(verdicts: Sequence[Verdict], columns: int) -> Iterator[Text]:
    width = max((len(verdict.attack) for verdict in verdicts), default=0)
    for verdict in sorted(verdicts, key=lambda verdict: _ORDER.index(verdict.state)):
        state = f"{verdict.state.replace('_', ' '):<14}"
        took = f"{verdict.wall_s * 1000:>6.0f} ms"
        rest = f"{took}  {verdict.attack:<{width}}  {verdict.title}"
        yield _line((state, _STYLE[verdict.state]), (rest, ""), columns=columns)
        if verdict.bad:
            yield from _detail_lines(columns, verdict.reason)


def _conclusion(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    for warning in diagnosis.warnings:
        yield f"warning: {warning.text}; fix: {warning.fix}", "yellow"
    for proof in diagnosis.weaker:
        yield f"warning: {proof.layer} is weaker as a plain user: {proof.detail}", "yellow"
    for failure in diagnosis.failures:
        yield f"failed: {failure}", "red"
    counts = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in sorted(diagnosis.counts().items()))
    verdict = "this deployment is NOT safe" if diagnosis.failures else "everything held"
    yield f"{diagnosis.isolation}: {verdict} ({counts})", "bold red" if diagnosis.failures else "bold green"


def _line(*parts: tuple[str, str], columns: int) -> Text:
    """Return a line of several styles, cut to the width."""
    line = Text.assemble(*parts)
    line.rstrip()
    line.truncate(columns, overflow="ellipsis")
    return line


def _detail_lines(columns: int, *texts: str) -> Iterator[Text]:
    for text in texts:
        if text:
            yield from _wrap(f"{_INDENT}{text}", columns)


def _wrap(text: str, columns: int, style: str = "") -> Iterable[Text]:
    """Wrap the text; lines after the first are indented."""
    return [Text(line, style=style) for line in textwrap.wrap(text, columns, subsequent_indent=_INDENT)]
