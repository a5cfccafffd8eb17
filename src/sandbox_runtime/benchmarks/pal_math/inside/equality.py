"""Whether two answers to a question of mathematics are the same. A checker: its arguments are three files, the input (unused),
what was answered and what is right; it ends with 0 for the same and with 1 for another.

In this order: as numbers, as texts, part by part, as expressions. The last is done in a process of its own, because it may take
for ever: what was answered comes from a program that nobody trusts, and only "another" may follow from what it does here.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import time
from typing import Any

SAME, OTHER = 0, 1
MAX_ANSWER_CHARACTERS, MAX_EXPRESSION_CHARACTERS = 20_000, 400
RELATIVE, SMALL, CLOSE_EXPRESSIONS, FLOAT_NOISE = 1e-4, 1e-3, 1e-3, 1e-12
EXPRESSION_S = 20.0
NAMES = frozenset(
    (
        *("sqrt", "pi", "sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "sinh", "cosh", "tanh", "log", "ln"),
        *("exp", "oo", "Abs", "factorial", "binomial", "Rational"),
    )
)
TOKEN = re.compile(r"\s+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|[A-Za-z]+|\*\*|[-+*/^(),!=]")
LATEX = re.compile(r"[\w\s\\{}()\[\].,;:+\-*/^=!|<>&'%$]*")
PAIRS = {"(": ")", "[": "]", "{": "}"}


def is_same_answer(answer: str, right: str) -> bool:
    answer, right = normalize(answer), normalize(right)
    if answer == right or is_same_text(answer, right):
        return True
    told, meant = parse_number(answer), parse_number(right)
    if told is not None and meant is not None:
        return is_same_number(told, meant, decimals(right))
    parts, wanted = split_parts(answer), split_parts(right)
    if parts is not None and wanted is not None:
        return len(parts) == len(wanted) and all(is_same_answer(one, other) for one, other in zip(parts, wanted, strict=True))
    return is_same_expression(answer, right)


def normalize(text: str) -> str:
    """Without what only concerns how it looks: units, degrees, dollars, thousands, spaces, the left side of `x = `."""
    text = re.sub(
        r"\\begin\{[pb]matrix\}((?:(?!\\begin\{).)*?)\\end\{[pb]matrix\}", column_to_list, text.strip().replace("\n", "")
    )
    text = text.replace("\\!", "").replace("\\,", "").replace("\\ ", " ")
    text = re.sub(r"\\[td]frac", r"\\frac", text).replace("\\left", "").replace("\\right", "")
    text = text.replace("^{\\circ}", "").replace("^\\circ", "").replace("\\$", "").replace("$", "")
    text = re.sub(r"\\(?:text|mbox|mathrm)\{([^{}]*)\}", strip_unit, text).replace("\\%", "").replace("%", "")
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<![\d])\.(?=\d)", "0.", text)
    text = re.sub(r"^\s*[A-Za-z]{1,2}\s*=\s*", "", text)
    text = re.sub(r"\\sqrt(\w)", r"\\sqrt{\1}", text)
    text = re.sub(r"\\frac(\d)(\d)", r"\\frac{\1}{\2}", text)
    text = re.sub(r"\\frac(\d)\{", r"\\frac{\1}{", text)
    text = re.sub(r"^(\d+) ?\\frac\{(\d+)\}\{(\d+)\}$", mixed_to_fraction, text)
    return re.sub(r"\s+", " ", text).strip().rstrip(".").strip()


def strip_unit(found: re.Match[str]) -> str:
    """A word behind a number is a unit; a word alone is the answer."""
    return found[1] if found.start() == 0 else ""


def mixed_to_fraction(found: re.Match[str]) -> str:
    """A whole number and a fraction behind it, as one fraction."""
    whole, top, bottom = map(int, found.groups())
    return f"\\frac{{{whole * bottom + top}}}{{{bottom}}}"


def column_to_list(found: re.Match[str]) -> str:
    """A column of numbers as a list."""
    return "[" + ",".join(part.strip() for part in found[1].split("\\\\")) + "]"


def parse_number(text: str) -> float | None:
    """A number or a fraction of two; None for anything else."""
    found = re.fullmatch(r"([+-]?)\\frac\{(-?\d+)\}\{(-?\d+)\}|([+-]?\d+)\s*/\s*(\d+)", text)
    try:
        if found is None:
            return float(text) if re.fullmatch(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", text) else None
        top, bottom = (found[1] + found[2], found[3]) if found[2] else (found[4], found[5])
        return int(top.replace("+", "").replace("--", "")) / int(bottom)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def is_same_number(told: float, wanted: float, digits: int) -> bool:
    """Also as a percentage of it, or it as one. digits: how many of what is right are behind the point."""
    return is_close(told, wanted, digits) or is_close(told, wanted * 100, digits) or is_close(told, wanted / 100, digits + 2)


def decimals(text: str) -> int:
    """How many digits are written behind the point."""
    found = re.fullmatch(r"[+-]?\d*\.(\d+)", text)
    return len(found[1]) if found else 0


def is_close(told: float, wanted: float, digits: int) -> bool:
    """Whole numbers are the same or they are not: in proportion to it, a large one would be close to its neighbours. Others may
    be off by a ten-thousandth, but by no more than rounding to the digits that are given explains."""
    if told == wanted:
        return True
    off, size = abs(told - wanted), abs(wanted)
    if told.is_integer() and wanted.is_integer():
        return off <= FLOAT_NOISE * size
    allowed = 0.5 if wanted.is_integer() else max(0.5 * 10.0**-digits * (1 + 1e-9), SMALL)
    return off <= RELATIVE * size and off <= allowed


def is_same_text(answer: str, right: str) -> bool:
    """Whatever brackets, quotes and spaces are around them."""
    bare = [re.sub(r"[\s(){}\[\]'\"]", "", text).lower() for text in (answer, right)]
    return bool(bare[0]) and bare[0] == bare[1] and "," not in bare[0]


def split_parts(text: str) -> list[str] | None:
    """Of a list, a tuple, a set or several values; None for one value."""
    inner = text
    if text[:1] in PAIRS and text.endswith(PAIRS[text[0]]):
        inner = text[1:-1]
    elif text.startswith("\\{") and text.endswith("\\}"):
        inner = text[2:-2]
    parts: list[str] = []
    depth, begun = 0, 0
    for place, letter in enumerate(inner):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(inner[begun:place])
            begun = place + 1
    parts.append(inner[begun:])
    if len(parts) == 1 and inner == text:
        return None
    return [part.strip().strip("'\"") for part in parts if part.strip()]


def is_same_expression(answer: str, right: str) -> bool:
    """In a process that is ended when its time is over."""
    if max(len(answer), len(right)) > MAX_EXPRESSION_CHARACTERS or not (is_readable(answer) and is_readable(right)):
        return False
    child = os.fork()
    if child == 0:
        os._exit(SAME if is_zero_difference(answer, right) else OTHER)
    until = time.monotonic() + EXPRESSION_S
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == SAME
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def is_zero_difference(answer: str, right: str) -> bool:
    try:
        sympy = importlib.import_module("sympy")
        told, wanted = parse_expression(answer), parse_expression(right)
        if sympy.simplify(told - wanted) == 0:
            return True
        return bool(abs(sympy.N(told - wanted)) < CLOSE_EXPRESSIONS)
    except BaseException:
        return False


def parse_expression(text: str) -> Any:
    if "\\" in text:
        return parse_latex(text)
    parser = importlib.import_module("sympy.parsing.sympy_parser")
    steps = (*parser.standard_transformations, parser.convert_xor, parser.implicit_multiplication)
    return parser.parse_expr(text, transformations=steps)


def is_readable(text: str) -> bool:
    """Only signs, numbers and known names get to the parser, which evaluates what it reads."""
    return LATEX.fullmatch(text) is not None if "\\" in text else is_arithmetic(text)


def parse_latex(text: str) -> Any:
    sympy = importlib.import_module("sympy")
    found = importlib.import_module("sympy.parsing.latex").parse_latex(text)
    return found.subs({sympy.Symbol("pi"): sympy.pi, sympy.Symbol("e"): sympy.E, sympy.Symbol("i"): sympy.I})


def is_arithmetic(text: str) -> bool:
    place = 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None or (found[0].isalpha() and len(found[0]) > 1 and found[0] not in NAMES):
            return False
        place = found.end()
    return bool(text)


def main() -> None:
    with open(sys.argv[2], encoding="utf-8", errors="replace") as printed, open(sys.argv[3], encoding="utf-8") as wanted:
        answer, right = printed.read(MAX_ANSWER_CHARACTERS + 1), wanted.read()
    if len(answer) > MAX_ANSWER_CHARACTERS:
        sys.exit(OTHER)
    try:
        found = is_same_answer(answer, right)
    except RecursionError:
        found = False
    if not found:
        print(f"{answer.strip()[:60]!r} was answered; {right.strip()[:60]!r} is right", file=sys.stderr)
    sys.exit(SAME if found else OTHER)


if __name__ == "__main__":
    main()
