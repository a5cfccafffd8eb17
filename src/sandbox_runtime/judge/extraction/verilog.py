"""Extract the body of a Verilog module. The head with its ports comes from the problem."""

from __future__ import annotations

import re

_MODULE = re.compile(r"\bmodule\s+(\w+)")
_END = re.compile(r"\bendmodule\b")
_HEAD_END = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|;", re.DOTALL)
_TOP_MODULES = ("top_module", "TopModule")


def module_body(code: str) -> str:
    """Return the requested module from after its port list to its end, followed by the other modules.

    Code that begins inside a module is returned unchanged.
    """
    heads = list(_MODULE.finditer(code))
    first_end = _END.search(code)
    if not heads or (first_end and first_end.start() < heads[0].start()):
        return code
    head = next((match for match in heads if match[1] in _TOP_MODULES), heads[0])
    body_start = next((match.end() for match in _HEAD_END.finditer(code, head.end()) if match[0] == ";"), len(code))
    end = _END.search(code, body_start)
    body_end = end.end() if end else len(code)
    others = (code[: head.start()] + code[body_end:]).strip()
    return code[body_start:body_end] + (f"\n\n{others}\n" if "module" in others else "")
