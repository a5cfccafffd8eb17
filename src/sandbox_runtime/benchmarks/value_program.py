"""Python programs that tell one value: what a function gives, told on a stream that the solution's own prints do not reach.

The value is compared outside the box, so there is nothing for a solution to gain by telling one itself.
"""

from __future__ import annotations

from sandbox_runtime.benchmarks.trials import future_first

_ASIDE = """\
import sys as _told_sys
_told_stream, _told_sys.stdout = _told_sys.stdout, _told_sys.stderr
"""
_TELL = """

_told_sys.set_int_max_str_digits(0)
_told_stream.write({expression} + "\\n")
_told_stream.flush()
"""


def telling(code: str, expression: str) -> str:
    """The program. expression: of a text, evaluated when the code has run."""
    return future_first(f"{_ASIDE}{code}\n{_TELL.format(expression=expression)}")
