"""The attack corpus as a person reads it: a line for each attack, by family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sandbox_runtime.doctor import Attack, Family


def print_corpus(corpus: Sequence[Attack]) -> None:
    for line in lines_of(corpus):
        print(line)


def lines_of(corpus: Sequence[Attack]) -> Iterator[str]:
    """Every attack with the layers and guards that it tests."""
    wide = max((len(one.name) for one in corpus), default=0)
    for family in Family:
        found = [one for one in corpus if one.family is family]
        if found:
            yield f"{family} ({len(found)}): {family.about}"
            yield from (f"  {one.name:<{wide}}  {one.title} [{', '.join((*one.layers, *one.guards))}]" for one in found)
            yield ""
    yield f"{len(corpus)} attacks"
