"""Which language a piece of code is written in, where nobody says. Pure; marks that no other language has come first."""

from __future__ import annotations

import re

_SURE = (
    ("python", r"\A#!.*\bpython"),
    ("javascript", r"\A#!.*\bnode"),
    ("bash", r"\A#!.*\b(ba|z|da|k)?sh\b"),
    ("go", r"^[^\S\n]*package\s+\w+\s*$"),
    ("csharp", r"^[^\S\n]*using\s+System\b|\bConsole\.Write(Line)?\("),
    ("java", r"\bpublic\s+(final\s+)?class\s+\w+|\bSystem\.out\.print|^[^\S\n]*import\s+java[x.]"),
    ("rust", r"\bfn\s+main\s*\(|\bprintln!\(|^[^\S\n]*use\s+std::"),
    ("cpp", r"#include\s*<(iostream|vector|string|map|algorithm|bits/stdc\+\+\.h)>|\bstd::|using\s+namespace\s+std"),
    ("c", r"^[^\S\n]*#include\s*[<\"]"),
    (
        "typescript",
        r"^[^\S\n]*(export\s+)?(interface|type)\s+\w[^\n={]*[={]|\b(const|let)\s+\w+\s*:\s*(string|number|boolean|unknown)\b",
    ),
)
_LIKELY = (
    (
        "python",
        r"\bprint\(|^[^\S\n]*(import|from)\s+\w|^[^\S\n]*def\s+\w+\s*\(|^[^\S\n]*(if|for|while|class|with|try)\b[^\n{]*:\s*(#.*)?$",
    ),
    ("javascript", r"\bconsole\.log\(|\bfunction\b|^[^\S\n]*(const|let|var)\s+\w|=>|\brequire\("),
    ("go", r"\bfunc\s+\w+\s*\(|\bfmt\.Print"),
    ("c", r"\bint\s+main\s*\(|\bprintf\("),
)


def detect_language(code: str) -> str:
    """What no mark is found for is taken for a shell script."""
    for language, marks in (*_SURE, *_LIKELY):
        if re.search(marks, code, re.MULTILINE):
            return language
    return "bash"
