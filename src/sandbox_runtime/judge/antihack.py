"""The rules against graded code that other judges know: a text that looks for the early way out, and a head that closes it.

They see little: what a program does to its own grading is seen by `integrity`. These are kept because their verdicts are part of
what callers expect of some benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_EARLY_EXIT = re.compile(r"exit\([ \t\r\n]*0[ \t\r\n]*\)")


class PythonAntiHack:
    @staticmethod
    def expand_code(code: str) -> str:
        """With a head that leaves nothing to call that would end the program."""
        return f"import os\nimport sys\nexit = os._exit = sys.exit = None\n{code}"

    @staticmethod
    def judge(code: str) -> bool:
        return _has_no_early_exit(code)


class CppAntiHack:
    @staticmethod
    def expand_code(code: str) -> str:
        """With a head that makes every exit an abortion. The library's own headers come first: they declare the true one."""
        return f"#include <cstdlib>\n#define exit(code) abort()\n{code}"

    @staticmethod
    def judge(code: str) -> bool:
        return _has_no_early_exit(code)


ANTI_HACKS: Mapping[str, type[PythonAntiHack] | type[CppAntiHack]] = MappingProxyType(
    {"python": PythonAntiHack, "cpp": CppAntiHack}
)
"""By language; others have none."""


def passes_text_rule(code: str, language: str) -> bool:
    """Whether the text holds no exit with code 0, in the languages that have the rule."""
    anti = ANTI_HACKS.get(language)
    return anti is None or anti.judge(code)


def _has_no_early_exit(code: str) -> bool:
    return _EARLY_EXIT.search(code) is None
