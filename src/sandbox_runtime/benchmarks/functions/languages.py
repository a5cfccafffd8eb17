"""The languages of function-completion rows, and what an answer in each of them needs to become a program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sandbox_runtime.benchmarks.functions import headers
from sandbox_runtime.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class FunctionLanguage:
    """fence: the word behind the fence of a code block. runs: the language of the catalog that runs the program. end: where a
    function ends at the latest, when a model went on writing. header: what stands on top. closes: the tests begin with the brace
    that closes the function. wrapped: the function stands in a class, and the tests close that too. main: the head of a main
    function, which the tests bring themselves. tail: what ends a file of its own, behind which tests would be no code. slip: what
    published tests write wrongly, and what they mean."""

    fence: str
    execution_language: str
    function_end: str = ""
    header: str = ""
    tests_close_function: bool = False
    in_class: bool = False
    main_head: re.Pattern[str] | None = None
    closing_tag: str = ""
    published_typo: tuple[str, str] = ("", "")


def _function_head(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{pattern}[ \t]*\(", re.MULTILINE)


_BRACE, _END = "\n}", "\nend"
_ROW_SPELLINGS: Mapping[str, str] = MappingProxyType(
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

_FUNCTION_LANGUAGES: Mapping[str, FunctionLanguage] = MappingProxyType(
    {
        "python": FunctionLanguage("python", "python", header=headers.PYTHON),
        "cpp": FunctionLanguage(
            "cpp",
            "cpp",
            _BRACE,
            headers.CPP,
            tests_close_function=True,
            main_head=_function_head(r"(?:int|auto|void)[ \t\n]+main"),
        ),
        "java": FunctionLanguage(
            "java",
            "java",
            header=headers.JAVA,
            tests_close_function=True,
            in_class=True,
            main_head=_function_head(r"(?:public[ \t]+)?static[ \t]+void[ \t]+main"),
        ),
        "csharp": FunctionLanguage(
            "csharp",
            "csharp",
            _BRACE,
            headers.CSHARP,
            tests_close_function=True,
            in_class=True,
            main_head=_function_head(r"(?:(?:public|private|internal)[ \t]+)?static[ \t]+(?:async[ \t]+)?\w+[ \t]+Main"),
            # Two lists are never equal that way, whatever is in them.
            published_typo=(".Equals((new List<", ".SequenceEqual((new List<"),
        ),
        "scala": FunctionLanguage(
            "scala", "scala", tests_close_function=True, in_class=True, main_head=_function_head(r"def[ \t]+main")
        ),
        "bash": FunctionLanguage("bash", "bash", tests_close_function=True),
        "rust": FunctionLanguage(
            "rust", "rust", tests_close_function=True, main_head=_function_head(r"(?:pub[ \t]+)?fn[ \t]+main")
        ),
        "swift": FunctionLanguage("swift", "swift", tests_close_function=True),
        "typescript": FunctionLanguage("typescript", "typescript", _BRACE),
        "javascript": FunctionLanguage("javascript", "nodejs", _BRACE),
        "go": FunctionLanguage("go", "go_test", _BRACE, main_head=_function_head(r"func[ \t]+main")),
        "php": FunctionLanguage("php", "php", _BRACE, closing_tag="?>"),
        "perl": FunctionLanguage("perl", "perl", _BRACE),
        "R": FunctionLanguage("r", "R", _BRACE),
        "D": FunctionLanguage("d", "D_ut", _BRACE, headers.D, main_head=_function_head(r"(?:int|void)[ \t]+main")),
        "lua": FunctionLanguage("lua", "lua", _END),
        "julia": FunctionLanguage("julia", "julia", _END),
        "ruby": FunctionLanguage("ruby", "ruby", _END),
        "racket": FunctionLanguage("racket", "racket"),
    }
)


def function_language(written: str) -> FunctionLanguage:
    """By the name that rows and dataset ids have for it."""
    name = written if written in _FUNCTION_LANGUAGES else _ROW_SPELLINGS.get(written.lower(), written.lower())
    found = _FUNCTION_LANGUAGES.get(name)
    if found is None:
        raise InvalidRequest(
            f"no such language of functions to complete: {written!r}; there are {', '.join(sorted(_FUNCTION_LANGUAGES))}"
        )
    return found
