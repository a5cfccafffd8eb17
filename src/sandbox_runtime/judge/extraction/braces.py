"""Where a block in braces ends, with texts and comments of the C-like languages skipped. Linear in the code."""

from __future__ import annotations

import re

# What is left open takes the rest, so that no part of the code is looked at twice.
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|\"\"\".*?(?:\"\"\"|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\[^\n][^'\n]{0,8}|[^'\\\n])'|`[^`]*(?:`|\Z)|[{}]""",
    re.DOTALL,
)


def block_end(code: str, start: int) -> int:
    """The place behind the brace that closes the first one opened from start on; the end of the code where none does."""
    depth = 0
    for found in _TOKEN.finditer(code, start):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if depth <= 0:
                return found.end()
    return len(code)


def block_body(code: str, start: int) -> str:
    """What is between the braces."""
    opening = code.find("{", start)
    if opening < 0:
        return ""
    end = block_end(code, opening)
    return code[opening + 1 : end - 1 if code[end - 1] == "}" else end]


def without_block(code: str, head: re.Pattern[str]) -> str:
    """The code without the first block that the head begins."""
    found = head.search(code)
    return code if found is None else code[: found.start()] + code[block_end(code, found.start()) :]
