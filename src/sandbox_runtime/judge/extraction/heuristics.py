"""Extract code without fences, by how it looks. Has the lowest priority."""

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
    """Return every run of lines that holds code, with the imports, statements and blank lines between definitions."""
    runs: list[list[str]] = []
    within, quoted = False, ""
    for line in text.replace("\r", "").split("\n"):
        starts = bool(_START.match(line))
        if not (quoted or starts or (within and _continues(line))):
            within = False
            continue
        if not within:
            runs.append([])
        within = True
        runs[-1].append(line)
        quoted = _open_quote(line, quoted)
    kept = ["\n".join(lines).rstrip() for lines in runs if any(_starts_code(line) for line in lines)]
    return "\n\n".join(kept) if any(_DEFINITION.search(text) for text in kept) else ""


def _continues(line: str) -> bool:
    return not line.strip() or line[0] in " \t" or bool(_CONTINUATION.match(line))


def _starts_code(line: str) -> bool:
    return bool(_START.match(line))


def _open_quote(line: str, quoted: str) -> str:
    """Return the triple quotes that are still open after this line, or an empty text."""
    position = 0
    while True:
        marks = (quoted,) if quoted else ('"""', "'''")
        hits = [(line.find(mark, position), mark) for mark in marks if line.find(mark, position) >= 0]
        if not hits:
            return quoted
        start, mark = min(hits)
        quoted, position = ("" if quoted else mark), start + 3


def _sql(text: str) -> str:
    match = _QUERY.search(text)
    return text[match.start() :].strip() if match else ""


def _bash(text: str) -> str:
    return text


_FINDERS: Mapping[str, Callable[[str], str]] = MappingProxyType({"python": _python, "sql": _sql, "bash": _bash})
