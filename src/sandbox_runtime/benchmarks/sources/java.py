"""Java wants a public type in a file of its name: a text with several types is split into one file for each.

The imports of the text go into each of its files. Test classes may be written without the imports of the test framework; those
they get are imports on demand, which never clash with what the text itself imports by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sandbox_runtime.judge.extraction import fenced_blocks, incomplete_blocks, same_language
from sandbox_runtime.model.job import File

_JUPITER = "import org.junit.jupiter.api.*;\nimport static org.junit.jupiter.api.Assertions.*;\n"
_OF_FOUR = re.compile(r"(?m)^[ \t]*import[ \t]+(?:static[ \t]+)?org\.junit\.(?!jupiter\b|platform\b)")
_USUAL = "import java.util.*;\n"
_IMPORT = re.compile(r"(?m)^[ \t]*import\s+(?:static\s+)?[\w.]+(?:\.\*)?\s*;[ \t]*\n?")
_PACKAGE = re.compile(r"(?m)^[ \t]*package\s+[\w.]+\s*;[ \t]*\n?")
# What is left open takes the rest, so that no part of the code is looked at twice.
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"\"\".*?(?:\"\"\"|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\[^\n][^'\n]{0,6}|[^'\\\n])'"
    r"|[{}]|(?<![\w.@])(?:class|interface|@interface|enum|record)\s+([A-Za-z_$][\w$]*)",
    re.DOTALL,
)


def blocks_of(text: str) -> str:
    """All Java that a model wrote in fences, those without a language too; where all name others, all; else the text itself."""
    found = fenced_blocks(text) or incomplete_blocks(text)
    ours = [block.code for block in found if not block.language or same_language(block.language, "java")]
    return "\n\n".join(ours or [block.code for block in found]) if found else text


def junit_files(solution: str, tests: str) -> tuple[File, ...]:
    """Both as files. A file of the tests is never replaced by one of the solution."""
    found = {**dict(_split(solution, _USUAL)), **dict(_split(tests, _framework(tests) + _USUAL))}
    return tuple(File(f"{name}.java", code.encode(errors="surrogatepass")) for name, code in found.items())


def type_files(code: str) -> tuple[File, ...]:
    """One file for each type, with the imports of the text."""
    return tuple(File(f"{name}.java", text.encode(errors="surrogatepass")) for name, text in _split(code, ""))


def types_of(code: str) -> Iterator[tuple[str, str]]:
    """The types at the left edge, each with its name and its text, annotations and comments in front of it included."""
    code = _IMPORT.sub("", _PACKAGE.sub("", code))
    depth, start, name = 0, 0, ""
    for found in _TOKEN.finditer(code):
        if found[1]:
            name = name or found[1] if depth == 0 else name
        elif found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth = max(0, depth - 1)
            if depth == 0 and name:
                yield name, code[start : found.end()].strip()
                start, name = found.end(), ""
    if name:
        yield name, code[start:].strip()


def _split(code: str, more_imports: str) -> Iterator[tuple[str, str]]:
    imports = "".join(dict.fromkeys(line.strip() + "\n" for line in _imports(code)))
    for name, text in types_of(code):
        yield name, f"{imports}{more_imports}\n{text}\n"


def _imports(code: str) -> Iterable[str]:
    return _IMPORT.findall(code)


def _framework(tests: str) -> str:
    """Tests in the older form of the framework bring its imports themselves; both forms at once would be ambiguous."""
    return "" if _OF_FOUR.search(tests) else _JUPITER
