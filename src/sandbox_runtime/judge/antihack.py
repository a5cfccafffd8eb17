"""The text rules of other judges against early exits: a search for exit(0), and a prologue that disables exit.

They detect little; tampering is detected by `integrity`. They remain because callers of some benchmarks expect their verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_EARLY_EXIT = re.compile(r"exit\([ \t\r\n]*0[ \t\r\n]*\)")


class PythonAntiHack:
    @staticmethod
    def expand_code(code: str) -> str:
        """Prepend code that disables every function that ends the program."""
        return f"import os\nimport sys\nexit = os._exit = sys.exit = None\n{code}"

    @staticmethod
    def judge(code: str) -> bool:
        return _has_no_early_exit(code)


class CppAntiHack:
    @staticmethod
    def expand_code(code: str) -> str:
        """Prepend a macro that makes every exit an abort. The include comes first, because the header declares the real exit."""
        return f"#include <cstdlib>\n#define exit(code) abort()\n{code}"

    @staticmethod
    def judge(code: str) -> bool:
        return _has_no_early_exit(code)


ANTI_HACKS: Mapping[str, type[PythonAntiHack] | type[CppAntiHack]] = MappingProxyType(
    {"python": PythonAntiHack, "cpp": CppAntiHack}
)
"""Language → rule. Other languages have none."""


def passes_text_rule(code: str, language: str) -> bool:
    """Whether the text has no exit with code 0. True for languages without a rule."""
    rule = ANTI_HACKS.get(language)
    return rule is None or rule.judge(code)


def _has_no_early_exit(code: str) -> bool:
    return _EARLY_EXIT.search(code) is None
