"""How languages are spelled: by models behind a fence, by datasets in their rows, by the catalog when they run."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "python": ("python", "Python", "py", "Python3", "python3", "PY", "PYTHON", "py3"),
    "cpp": ("cpp", "c++", "C++", "Cpp", "CPP", "cc", "cxx"),
    "nodejs": ("JS", "js", "nodejs", "node"),
    "javascript": ("javascript", "JavaScript", "Javascript"),
    "go": ("go", "Go", "golang"),
    "java": ("java", "Java"),
    "php": ("php", "PHP"),
    "csharp": ("csharp", "c#", "C#", "cs"),
    "bash": ("bash", "Bash", "BASH", "sh", "shell"),
    "typescript": ("typescript", "TypeScript", "ts"),
    "rust": ("rust", "Rust", "rs"),
    "sql": ("sql", "SQL"),
    "D": ("D", "d"),
    "julia": ("julia", "Julia", "jl"),
    "lua": ("lua", "Lua"),
    "perl": ("perl", "Perl", "pl"),
    "R": ("R", "r"),
    "ruby": ("ruby", "Ruby", "rb"),
    "scala": ("scala", "Scala"),
    "kotlin": ("kotlin", "Kotlin", "kt", "kts"),
    "c": ("c", "C"),
    "html": ("html", "HTML"),
    "verilog": ("verilog", "Verilog", "VERILOG", "systemverilog", "sv", "v"),
    "racket": ("racket", "Racket", "rkt"),
    "swift": ("swift", "Swift"),
    "lean": ("lean", "Lean", "lean4"),
}
_OF_FENCE: Mapping[str, str] = MappingProxyType({word: name for name, words in _SPELLINGS.items() for word in words})

_FAMILY_OF: Mapping[str, str] = MappingProxyType(
    {
        "nodejs": "javascript",
        "D_ut": "D",
        "go_test": "go",
        "pytest": "python",
        "junit": "java",
        "kotlin_script": "kotlin",
    }
)


def fence_language(word: str) -> str:
    """The language that the word behind a fence means; empty for one that means none."""
    return _OF_FENCE.get(word, "")


def same_language(one: str, other: str) -> bool:
    """Whether code in the one can be run as the other: `js`, `javascript` and `nodejs` are one language, as are `go` and
    `go_test`."""
    return bool(one) and _family(one) == _family(other)


def _family(name: str) -> str:
    name = _OF_FENCE.get(name, name)
    return _FAMILY_OF.get(name, name)
