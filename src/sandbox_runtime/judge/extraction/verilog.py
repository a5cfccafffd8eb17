"""The inside of a Verilog module: the problem's own text brings the head with its ports."""

from __future__ import annotations

import re

_MODULE = re.compile(r"\bmodule\s+(\w+)")
_END = re.compile(r"\bendmodule\b")
_HEAD_END = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|;", re.DOTALL)
_USUAL_NAMES = ("top_module", "TopModule")


def module_body(code: str) -> str:
    """What follows the list of ports of the module that is asked for, up to and with its end, and then the other modules. All
    of it as it is where it begins inside a module already."""
    heads = list(_MODULE.finditer(code))
    first_end = _END.search(code)
    if not heads or (first_end and first_end.start() < heads[0].start()):
        return code
    head = next((found for found in heads if found[1] in _USUAL_NAMES), heads[0])
    body_start = next((found.end() for found in _HEAD_END.finditer(code, head.end()) if found[0] == ";"), len(code))
    end = _END.search(code, body_start)
    body_end = end.end() if end else len(code)
    others = (code[: head.start()] + code[body_end:]).strip()
    return code[body_start:body_end] + (f"\n\n{others}\n" if "module" in others else "")
