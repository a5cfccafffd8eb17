"""Wrap bare statements into a program, for languages that require a main function."""

from __future__ import annotations

import re

_TOP_OF_CPP = re.compile(r"^\s*(#|using\s)")
_TOP_OF_RUST = re.compile(r"^\s*(use\s|extern\s|#!\[)")


def wrap_main(language: str, code: str) -> str:
    """Return the code with a main function around it, or unchanged if it has one or needs none."""
    if language == "cpp" and not re.search(r"\bmain\s*\(", code):
        return _wrap(code, _TOP_OF_CPP, "#include <bits/stdc++.h>\nusing namespace std;\n", "int main() {", "return 0;\n}")
    if language == "rust" and not re.search(r"\bfn\s+main\s*\(", code):
        return _wrap(code, _TOP_OF_RUST, "", "fn main() {", "}")
    if language == "go":
        return _go(code)
    if language == "csharp" and not re.search(r"\bMain\s*\(", code):
        return _wrap(code, re.compile(r"^\s*using\s+[\w.]+;"), "", "class Program { static void Main() {", "} }")
    return code


def _wrap(code: str, top: re.Pattern[str], before: str, opening: str, closing: str) -> str:
    """Wrap all lines but those matching `top`, which stay above the function."""
    lines = code.splitlines()
    above = [line for line in lines if top.match(line)]
    inside = [line for line in lines if not top.match(line)]
    return before + "\n".join([*above, opening, *inside, closing]) + "\n"


def _go(code: str) -> str:
    if re.search(r"^[^\S\n]*package\s+\w+", code, re.MULTILINE):
        return code
    if re.search(r"\bfunc\s+main\s*\(", code):
        return f"package main\n\n{code}"
    imports = sorted({f'"{name}"' for name in ("fmt", "os", "strings", "strconv", "math", "time") if f"{name}." in code})
    given = re.search(r"^[^\S\n]*import\b", code, re.MULTILINE)
    head = "package main\n\n" + ("" if given or not imports else f"import ({'; '.join(imports)})\n\n")
    return head + _wrap(code, re.compile(r"^\s*import\b.*|^\s*\"[\w/]+\"\s*$|^\)\s*$"), "", "func main() {", "}")
