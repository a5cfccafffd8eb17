"""Run as a program: feeds every pattern its hostile texts, and prints one JSON line for each that takes too long.

A pattern cannot be interrupted while it searches, so each works in a forked process whose processor time is limited: the kernel
ends one that is super-linear, and the next process goes on behind it.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator

from tests.regexes.discovery import SEARCHES, Used, patterns
from tests.regexes.hostile import Attack, attacks
from tests.regexes.supplied import ELSEWHERE, SUPPLIED

LARGE_CHARACTERS = 1_000_000
SMALL_CHARACTERS = 4_000
"""Every hostile text in this size tells which is the worst; that one is then fed in the large size."""
WORST = 1
MOST_CPU_S = 3.0
"""For all texts of one pattern. A linear one takes a tenth of a second; a quadratic one a thousand seconds and more."""


def main() -> None:
    used, unknown = patterns(SUPPLIED, ELSEWHERE)
    for one in unknown:
        print(json.dumps({"unknown": one.where, "written": one.written}), flush=True)
    at = 0
    while at < len(used):
        at = _feed_in_child(used, at)
    print(json.dumps({"patterns": len(used)}), flush=True)


def _feed_in_child(used: list[Used], first: int) -> int:
    """Feed those from `first` on; return where to go on, behind the one that was too slow."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        for at in range(first, len(used)):
            _feed(used[at], lambda text, at=at: os.write(writer, f"{at} {text}\n".encode()))  # type: ignore[misc]
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8", errors="replace") as lines:
        last = deque(lines, maxlen=1)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return len(used)
    at, _, text = last[0].partition(" ")
    ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "an error"
    print(
        json.dumps(
            {"slow": used[int(at)].where, "pattern": str(used[int(at)].pattern.pattern), "text": text.strip(), "by": ended}
        )
    )
    return int(at) + 1


def _feed(used: Used, tell) -> None:  # type: ignore[no-untyped-def]
    spent = resource.getrusage(resource.RUSAGE_SELF)
    limit = math.ceil(spent.ru_utime + spent.ru_stime + MOST_CPU_S)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    for attack in _worst(used, tell):
        tell(f"{attack}")
        _apply(used, attack.text(LARGE_CHARACTERS))


def _worst(used: Used, tell) -> Iterator[Attack]:  # type: ignore[no-untyped-def]
    took = []
    for attack in attacks(used.pattern):
        tell(f"{attack}")
        text, began = attack.text(SMALL_CHARACTERS), time.thread_time()
        _apply(used, text)
        took.append((time.thread_time() - began, attack))
    took.sort(key=lambda entry: -entry[0])
    yield from (attack for _, attack in took[:WORST])


def _apply(used: Used, text: str) -> None:
    """finditer does what search, findall, sub and split do: from every place at which a match could begin."""
    subject = text.encode("utf-8") if isinstance(used.pattern.pattern, bytes) else text
    if used.methods & SEARCHES:
        deque(used.pattern.finditer(subject), maxlen=0)
    for method in used.methods - SEARCHES:
        getattr(used.pattern, method)(subject)


if __name__ == "__main__":
    sys.exit(main())
