"""Find the end of a block in braces, skipping strings and comments of C-like languages. Linear in the code."""

from __future__ import annotations

import re

# An unterminated string or comment extends to the end, so that no part of the code is scanned twice.
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|\"\"\".*?(?:\"\"\"|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\[^\n][^'\n]{0,8}|[^'\\\n])'|`[^`]*(?:`|\Z)|[{}]""",
    re.DOTALL,
)


def block_end(code: str, start: int) -> int:
    """Return the index after the brace that closes the first block from `start` on, or the end of the code."""
    depth = 0
    for token in _TOKEN.finditer(code, start):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth <= 0:
                return token.end()
    return len(code)


def block_body(code: str, start: int) -> str:
    """Return the text between the braces."""
    opening = code.find("{", start)
    if opening < 0:
        return ""
    end = block_end(code, opening)
    return code[opening + 1 : end - 1 if code[end - 1] == "}" else end]


def without_block(code: str, head: re.Pattern[str]) -> str:
    """Remove the first block that begins with `head`."""
    match = head.search(code)
    return code if match is None else code[: match.start()] + code[block_end(code, match.start()) :]
