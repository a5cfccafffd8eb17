"""Tests and solution in two processes: what crosses between them, what cannot, and what the solution finds on its side."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.judge.integrity.process_choice import needs_shared_process
from sandbox_runtime.model import Job, Limits, Reason, Verdict
from sandbox_runtime.model.judge import Guard, GuardKind, Trial
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = Limits(wall_s=60, memory_bytes=None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(guest_python: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    settings = Settings(guest_python=guest_python, state_dir=str(tmp_path_factory.mktemp("state")), log_level="error")
    async with open_platform(settings, prewarm=False) as opened:
        yield opened


async def judged(platform: Platform, solution: str, tests: str, **guard: str) -> Verdict:
    job = Job("python", f"{solution}\n{tests}", run_limits=LIMITS, compile_limits=LIMITS)
    verdict = await platform.judge.judge(Trial(job, guard=Guard(GuardKind.python, solution, tests, **guard)))  # type: ignore[arg-type]
    assert verdict.extra["guard"] == "split"
    return verdict


SAME = "def same(x):\n    return x\n"
VALUES = [
    "None", "True", "0", "-0.0", "1e308 * 10", "10**5000", "-(10**400)", "'text'", "'\\ud800'", "b'bytes'", "bytearray(b'x')",
    "(1, (2, [3]))", "[[1, 2], {'a': (1,)}]", "{1: 'a', (2, 3): [4]}", "{1, 'a', (2,)}", "frozenset({1})", "1 + 2j", "range(3)",
    "Decimal('1.50')", "Fraction(1, 3)",
    "datetime(2024, 2, 29, 12, 30, 1, 5)", "date(2024, 2, 29)",
    "timedelta(days=-1, microseconds=3)", "Counter('aab')",
    "OrderedDict([('b', 1), ('a', 2)])", "deque([1, 2], 3)",
    "array('d', [0.1])", "UUID(int=7)", "int", "ValueError",
]  # fmt: skip


IMPORTS = """
from array import array
from collections import Counter, OrderedDict, deque
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from uuid import UUID
"""


@pytest.mark.parametrize("value", VALUES)
async def test_a_plain_value_crosses_both_ways_with_its_type(platform: Platform, value: str) -> None:
    tests = f"{IMPORTS}\nvalue = {value}\nresult = same(value)\nassert result == value and type(result) is type(value), result\n"
    verdict = await judged(platform, SAME, tests)
    assert verdict.accepted, verdict.message


@pytest.mark.parametrize(
    ("solution", "tests"),
    [
        ("def f(x):\n    x.append(1)\n", "a = [0]\nf(a)\nassert a == [0, 1]"),
        ("def f(m):\n    m[0][0] = 9\n", "row = [1]\nm = [row]\nf(m)\nassert row == [9]"),
        ("def f(d):\n    d['k'] = d.pop('j')\n", "d = {'j': 1}\nf(d)\nassert d == {'k': 1}"),
        ("def f(x):\n    x.sort()\n    return x\n", "a = [2, 1]\nb = f(a)\nb.append(3)\nassert a == [1, 2, 3]"),
        ("def f(key, items):\n    return sorted(items, key=key)\n", "assert f(lambda x: -x, [1, 3, 2]) == [3, 2, 1]"),
        ("def f(n):\n    return lambda x: x + n\n", "assert f(2)(3) == 5"),
        ("import itertools\ndef f():\n    yield from itertools.count()\n", "g = f()\nassert [next(g), next(g)] == [0, 1]"),
        ("def f(x):\n    raise KeyError(x)\n", "try:\n    f(3)\nexcept KeyError as e:\n    assert e.args == (3,)"),
        ("class Odd(ValueError):\n    pass\ndef f():\n    raise Odd(1)\n", "try:\n    f()\nexcept Odd as e:\n    assert e.args"),
        ("class Solution:\n    def twice(self, x):\n        return 2 * x\n", "assert Solution().twice(4) == 8"),
        ("import math\ndef f(x):\n    return math.pi * x\n", "assert math.isclose(f(2), 6.283185307179586)"),
        ("class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)\n"
         "    def __len__(self): return len(self.items)\n", "s = Stack()\ns.push(3)\nassert len(s) == 1 and s.items == [3]"),
    ],
)  # fmt: skip
async def test_what_tests_do_with_a_solution_works_across_processes(platform: Platform, solution: str, tests: str) -> None:
    verdict = await judged(platform, solution, tests)
    assert verdict.accepted, verdict.message


LOOK = """
import os
def found():
    parent = os.getppid()
    seen = []
    for name in ("mem", "environ", "fd", "maps", "cwd", "task/%d/mem" % parent, "root"):
        path = f"/proc/{parent}/{name}"
        try:
            os.listdir(path) if name in ("fd", "root") else os.readlink(path) if name == "cwd" else open(path, "rb").read(1)
            seen.append(name)
        except OSError:
            pass
    try:
        os.close(os.pidfd_open(parent))
    except OSError:
        pass
    return seen, sorted(os.listdir("/proc/self/fd")), os.readlink("/proc/self/fd/0")
"""


async def test_the_process_of_the_tests_shows_nothing_of_itself(platform: Platform) -> None:
    verdict = await judged(
        platform, LOOK, "seen, mine, stdin = found()\nassert seen == [], seen\nassert stdin == '/dev/null', stdin"
    )
    assert verdict.accepted, verdict.message


SCAN = """
import re
def holds():
    wanted = re.compile(rb"[q]zxvwkjp")
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            place, rights = line.split()[:2]
            start, end = (int(one, 16) for one in place.split("-"))
            if rights.startswith("rw"):
                memory.seek(start)
                if wanted.search(memory.read(end - start)):
                    return True
    return False
"""


@pytest.mark.parametrize(("place", "found"), [("tests", False), ("solution", True)])
async def test_tests_are_not_in_the_memory_of_the_solution(platform: Platform, place: str, found: bool) -> None:
    secret = "kept = ['qzxvwkjp']\n"
    solution, tests = (SCAN, secret) if place == "tests" else (SCAN + secret, "")
    verdict = await judged(platform, solution, f"{tests}assert holds() is {found}\n")
    assert verdict.accepted, verdict.message


async def test_a_module_that_the_solution_writes_is_not_loaded_by_the_tests(platform: Platform) -> None:
    solution = "for name in ('heapq', 'secret_module'):\n    open(f'{name}.py', 'w').write('raise SystemExit(0)')\n"
    solution += "def f():\n    return 1\n"
    verdict = await judged(platform, solution, "import heapq\nimport secret_module\nassert f() == 2\n")
    assert verdict.reason is Reason.runtime_error and "secret_module" in verdict.message


async def test_helpers_of_the_row_are_not_the_solutions_to_change(platform: Platform) -> None:
    preamble = "def encode(text):\n    return text[::-1]\n\ndef decode(text):\n    '''Undo encode.'''\n"
    cheat = f"{preamble}\n    return text\n\ndef encode(text):\n    return text\n"
    tests = "assert decode(encode('abc')) == 'abc'\n"
    assert not (await judged(platform, cheat, tests, preamble=preamble, entry="decode")).accepted
    right = f"{preamble}\n    return text[::-1]\n"
    assert (await judged(platform, right, tests, preamble=preamble, entry="decode")).accepted


async def test_a_solution_that_fails_is_a_runtime_error_with_its_own_traceback(platform: Platform) -> None:
    verdict = await judged(platform, "def f(x):\n    assert x, 'mine'\n", "f(0)\n")
    assert verdict.reason is Reason.runtime_error and verdict.cases[0].run is not None
    assert "line 2, in f" in verdict.cases[0].run.stderr.text and "AssertionError: mine" in verdict.message


async def test_what_both_sides_print_is_kept(platform: Platform) -> None:
    verdict = await judged(platform, "print('solution')\ndef f():\n    print('call')\n", "f()\nprint('tests')\n")
    assert verdict.accepted and verdict.cases[0].run is not None
    assert sorted(verdict.cases[0].run.stdout.text.split()) == ["call", "solution", "tests"]


@pytest.mark.parametrize(
    ("tests", "shared"),
    [
        ("assert f(1) == 2", False),
        ("import math\nfor n in range(3):\n    assert math.isclose(f(n), n)", False),
        ("from unittest.mock import patch\nassert f(1)", True),
        ("import io, sys\nsys.stdout = io.StringIO()\nf()", True),
        ("assert open('x').read() == f()", True),
        ("class Own(Theirs):\n    pass\nassert Own()", True),
        ("assert f(1) is f(1)", True),
        ("assert f(1) is None and type(f(2)) is list", False),
        ("assert Money(5) == Money(5)", True),
        ("assert Money(5) - 2 == 3", True),
        ("m = Money(5)\nm.add(2)\nassert m == 7", True),
        ("assert Find_Max([1, 2]) == 2", False),
        ("assert depth(Node(1)) == 1", False),
        ("", True),
    ],
)
async def test_the_text_of_the_tests_alone_decides_where_they_run(tests: str, shared: bool) -> None:
    assert needs_shared_process(Guard(GuardKind.python, "", tests), Job("python", "")) is shared
