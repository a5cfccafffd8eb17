"""The languages of function-completion rows, and what an answer in each of them needs to become a program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sandbox_runtime.benchmarks.functions import headers
from sandbox_runtime.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Tongue:
    """fence: the word behind the fence of a code block. runs: the language of the catalog that runs the program. end: where a
    function ends at the latest, when a model went on writing. header: what stands on top. closes: the tests begin with the brace
    that closes the function. wrapped: the function stands in a class, and the tests close that too. main: the head of a main
    function, which the tests bring themselves. tail: what ends a file of its own, behind which tests would be no code. slip: what
    published tests write wrongly, and what they mean."""

    fence: str
    runs: str
    end: str = ""
    header: str = ""
    closes: bool = False
    wrapped: bool = False
    main: re.Pattern[str] | None = None
    tail: str = ""
    slip: tuple[str, str] = ("", "")


def _head(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{pattern}[ \t]*\(", re.MULTILINE)


_BRACE, _END = "\n}", "\nend"
_ROWS_NAME: Mapping[str, str] = MappingProxyType(
    {
        "py": "python",
        "ts": "typescript",
        "sh": "bash",
        "cs": "csharp",
        "go_test.go": "go",
        "go_test": "go",
        "js": "javascript",
        "nodejs": "javascript",
        "pl": "perl",
        "rkt": "racket",
        "r": "R",
        "rs": "rust",
        "rb": "ruby",
        "d": "D",
        "d_ut": "D",
        "jl": "julia",
        "c++": "cpp",
        "c#": "csharp",
    }
)

_TONGUES: Mapping[str, Tongue] = MappingProxyType(
    {
        "python": Tongue("python", "python", header=headers.PYTHON),
        "cpp": Tongue("cpp", "cpp", _BRACE, headers.CPP, closes=True, main=_head(r"(?:int|auto|void)[ \t\n]+main")),
        "java": Tongue(
            "java",
            "java",
            header=headers.JAVA,
            closes=True,
            wrapped=True,
            main=_head(r"(?:public[ \t]+)?static[ \t]+void[ \t]+main"),
        ),
        "csharp": Tongue(
            "csharp",
            "csharp",
            _BRACE,
            headers.CSHARP,
            closes=True,
            wrapped=True,
            main=_head(r"(?:(?:public|private|internal)[ \t]+)?static[ \t]+(?:async[ \t]+)?\w+[ \t]+Main"),
            # Two lists are never equal that way, whatever is in them.
            slip=(".Equals((new List<", ".SequenceEqual((new List<"),
        ),
        "scala": Tongue("scala", "scala", closes=True, wrapped=True, main=_head(r"def[ \t]+main")),
        "bash": Tongue("bash", "bash", closes=True),
        "rust": Tongue("rust", "rust", closes=True, main=_head(r"(?:pub[ \t]+)?fn[ \t]+main")),
        "swift": Tongue("swift", "swift", closes=True),
        "typescript": Tongue("typescript", "typescript", _BRACE),
        "javascript": Tongue("javascript", "nodejs", _BRACE),
        "go": Tongue("go", "go_test", _BRACE, main=_head(r"func[ \t]+main")),
        "php": Tongue("php", "php", _BRACE, tail="?>"),
        "perl": Tongue("perl", "perl", _BRACE),
        "R": Tongue("r", "R", _BRACE),
        "D": Tongue("d", "D_ut", _BRACE, headers.D, main=_head(r"(?:int|void)[ \t]+main")),
        "lua": Tongue("lua", "lua", _END),
        "julia": Tongue("julia", "julia", _END),
        "ruby": Tongue("ruby", "ruby", _END),
        "racket": Tongue("racket", "racket"),
    }
)


def tongue_of(written: str) -> Tongue:
    """By the name that rows and dataset ids have for it."""
    name = written if written in _TONGUES else _ROWS_NAME.get(written.lower(), written.lower())
    found = _TONGUES.get(name)
    if found is None:
        raise InvalidRequest(f"no such language of functions to complete: {written!r}; there are {', '.join(sorted(_TONGUES))}")
    return found
