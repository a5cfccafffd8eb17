"""Remove from a block of code what conflicts with tests: main functions, examples, wrappers. Pure steps by language."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from sandbox_runtime.judge.extraction.braces import block_body, block_end, without_block
from sandbox_runtime.judge.extraction.stop_words import text_before

EXAMPLE_USAGE = "# Example usage"
_PYTHON_MAIN = 'if __name__ == "__main__":'
_C_MAIN = "int main()"
_GO_MAIN = re.compile(r"(?m)^func[ \t]+main[ \t]*\(")
_KOTLIN_MAIN = re.compile(r"(?m)^[ \t]*fun[ \t]+main[ \t]*\(")
_SCALA_OBJECT = re.compile(r"(?m)^[ \t]*(?:case[ \t]+)?object[ \t]+\w+\b[^{\n]*\{")
_STATIC_METHOD = re.compile(r"(?m)^[ \t]*(?:(?:public|private|protected|internal)[ \t]+)?static[ \t][^;={}\n]*\(")
_ASSERTION = re.compile(r"(?m)^assert\b.*\n?")

Step = Callable[[str], str]
Steps = Mapping[str, tuple[Step, ...]]


def without_carriage_returns(code: str) -> str:
    return code.replace("\r", "")


def without_example_usage(code: str) -> str:
    return text_before(code, EXAMPLE_USAGE)


def without_assertions(code: str) -> str:
    """Remove unindented assert lines."""
    return _ASSERTION.sub("", code)


def without_python_main(code: str) -> str:
    return text_before(code, _PYTHON_MAIN)


def without_any_python_main(code: str) -> str:
    """Like `without_python_main`, for any spelling of the line."""
    lines = code.split("\n")
    ends = (number for number, line in enumerate(lines) if "__name__" in line and "__main__" in line)
    return "\n".join(lines[: next(ends, len(lines))])


def without_c_main(code: str) -> str:
    return text_before(code, _C_MAIN)


def without_go_package(code: str) -> str:
    return code.replace("package main", "")


def without_go_main(code: str) -> str:
    return without_block(code, _GO_MAIN)


def without_kotlin_main(code: str) -> str:
    return without_block(code, _KOTLIN_MAIN)


def rename_main_class(code: str) -> str:
    """Rename the class Main, because the tests define one."""
    return code.replace("public class Main {", "class Solution {")


def scala_object_body(code: str) -> str:
    match = _SCALA_OBJECT.search(code)
    return code if match is None else block_body(code, match.start())


def first_static_method(code: str) -> str:
    """Return the first static method without its class."""
    match = _STATIC_METHOD.search(code)
    return code if match is None else code[match.start() : block_end(code, match.start())]


STEPS_V1: Steps = MappingProxyType(
    {
        "python": (without_python_main,),
        "cpp": (without_c_main,),
        "java": (rename_main_class,),
        "go": (without_go_package,),
        "go_test": (without_go_package,),
    }
)
"""Steps of `freeform`."""

STEPS_V2: Steps = MappingProxyType(
    {
        "python": (without_any_python_main,),
        "c": (without_c_main,),
        "cpp": (without_c_main,),
        "go": (without_go_main,),
        "go_test": (without_go_main,),
        "kotlin": (without_kotlin_main,),
        "kotlin_script": (without_kotlin_main,),
        "scala": (scala_object_body,),
    }
)
"""Steps of `freeform_v2`."""
