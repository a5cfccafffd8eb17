"""Code that no fence marks: found by how it looks. The least of the signs, taken where there is no other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sandbox_runtime.model.judge import Block

HEURISTIC = 10

_DEFINITION = re.compile(r"(async\s+def|def|class)\s+\w")
_START = re.compile(r"((async\s+def|def|class)\s+\w|import\s+\w|from\s+[\w.]+\s+import\b|@\w)")
_CONTINUATION = re.compile(
    r"""(\#|[)\]}]|'''|\"\"\"                                   # comments, closing brackets, texts
    |(if|elif|for|while|with|try|except|else|finally)\b.*:\s*(\#.*)?$  # heads of blocks
    |[A-Za-z_][\w.]*(\[[^\]]*\])?\s*(:[\w.\[\],\s]+)?([-+*/%|&^@]|//|\*\*|>>|<<)?=(?!=)  # assignments
    |[A-Za-z_][\w.]*\(.*\)\s*(\#.*)?$)                            # calls
    """,
    re.VERBOSE,
)
_QUERY = re.compile(r"(?im)^[ \t]*(select|with)\b")


def heuristic_blocks(text: str, language: str) -> list[Block]:
    find = _FINDERS.get(language)
    code = find(text) if find else ""
    return [Block(HEURISTIC, language, code)] if code.strip() else []


def _python(text: str) -> str:
    """Every stretch of lines that holds a definition, with the imports, the statements and the blank lines between them."""
    stretches: list[list[str]] = []
    within, quoted = False, ""
    for line in text.replace("\r", "").split("\n"):
        starts = bool(_START.match(line))
        if not (quoted or starts or (within and _continues(line))):
            within = False
            continue
        if not within:
            stretches.append([])
        within = True
        stretches[-1].append(line)
        quoted = _open_quote(line, quoted)
    kept = ["\n".join(lines).rstrip() for lines in stretches if any(_starts_code(line) for line in lines)]
    return "\n\n".join(kept) if any(_DEFINITION.search(stretch) for stretch in kept) else ""


def _continues(line: str) -> bool:
    return not line.strip() or line[0] in " \t" or bool(_CONTINUATION.match(line))


def _starts_code(line: str) -> bool:
    return bool(_START.match(line))


def _open_quote(line: str, quoted: str) -> str:
    """The triple quotes that are still open behind this line."""
    place = 0
    while True:
        marks = (quoted,) if quoted else ('"""', "'''")
        found = [(line.find(mark, place), mark) for mark in marks if line.find(mark, place) >= 0]
        if not found:
            return quoted
        at, mark = min(found)
        quoted, place = ("" if quoted else mark), at + 3


def _sql(text: str) -> str:
    found = _QUERY.search(text)
    return text[found.start() :].strip() if found else ""


def _bash(text: str) -> str:
    return text


_FINDERS: Mapping[str, Callable[[str], str]] = MappingProxyType({"python": _python, "sql": _sql, "bash": _bash})
