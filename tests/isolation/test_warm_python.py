"""A program cannot tell whether its interpreter was started for it or forked warm: it is run both ways and must say the same."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import open_box, put_file
from tests.isolation.interpreters import VERSIONS, find_interpreter, version_of

from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import STANDARD_MODULES, BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Command, Limits, Outcome

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROGRAMS = Path(__file__).parent / "programs"
HEADER = "#: "
AT_ONCE = 4
LARGE_PRESET = (
    *STANDARD_MODULES,
    "argparse",
    "asyncio",
    "logging",
    "multiprocessing",
    "subprocess",
    "tempfile",
    "unittest",
    "uuid",
)
DIFFERS_BETWEEN_VERSIONS = (
    *("main", "stack", "trac", "rec", "sys", "syntax", "uncaught", "hook"),
    *("exit_with_t", "atexit", "del", "full", "broken", "death_by_seg"),
)
"""What of the interpreter's inside the warm form relies on; SANDBOX_EVERY_PROGRAM=1 takes all of them."""
ODD_SOURCES: dict[str, bytes] = {
    "empty": b"",
    "only a comment": b"# nothing",
    "no newline at the end": b"print(1)\nprint(2)",
    "syntax error": b"print('before')\ndef f(:\n    pass\n",
    "bad indentation": b"if True:\nprint(1)\n",
    "tabs and spaces": b"if True:\n    print(1)\n\tprint(2)\n",
    "unclosed bracket": b"print((1, 2)\nx = 3\n",
    "unclosed string": b"text = '''never\nclosed\n",
    "not utf-8": b"print('\xff')\n",
    "latin-1 cookie": b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n",
    "bad cookie": b"# coding: no-such-encoding\nprint(1)\n",
    "cookie against mark": b"\xef\xbb\xbf# coding: latin-1\nprint(1)\n",
    "byte order mark": b"\xef\xbb\xbfprint('marked', ascii('\xc3\xa9'))\n",
    "NUL byte": b"print('before')\nx = 1\0\n",
    "NUL byte at the start": b"\0",
    "carriage returns": b"print(1)\r\nprint('''a\r\nb''')\rprint(3)\n",
    "form feed": b"\x0cprint(1)\n",
    "binary": bytes(range(256)),
    "error in a long line": b"x = [" + b"1, " * 3000 + b"]\nraise ValueError(x[0]); " + b"y = 1; " * 100 + b"\n",
    "await outside": b"await thing\n",
    "return outside": b"return 1\n",
    "future import": b"from __future__ import annotations, barry_as_FLUFL\nprint(1 <> 2)\n",
    "non-ascii name": "größe = 1\nprint(größe)\nraise ValueError(größe)\n".encode(),
}


@dataclass(frozen=True)
class Program:
    """A program to run. source is None if the file is missing; the header line holds settings of the run."""

    source: bytes | None
    script: str = "main.py"
    header: dict[str, Any] = field(default_factory=dict)

    def fits(self, version: str) -> bool:
        """Some speak of what only some versions have or say."""
        numbers = [int(part) for part in version.split(".")]
        return self.header.get("since", [3]) <= numbers <= self.header.get("until", [4])

    def command(self, python: str, *, warm: bool) -> Command:
        argv = (python, self.script, *self.header.get("argv", []))
        stdin = bytes.fromhex(self.header["stdin_hex"]) if "stdin_hex" in self.header else self.header.get("stdin", "").encode()
        limits = Limits(wall_s=60, file_bytes=self.header.get("file_bytes", Limits().file_bytes))
        # env executes what it is given in its own place, so nothing but the way the interpreter came to be is different.
        return Command(argv if warm else ("/usr/bin/env", *argv), stdin=stdin, env=self.header.get("env", {}), limits=limits)


def read_program(path: Path) -> Program:
    first = path.read_text().partition("\n")[0]
    return Program(path.read_bytes(), header=json.loads(first[len(HEADER) :]) if first.startswith(HEADER) else {})


def programs() -> Iterator[tuple[str, Program]]:
    for path in sorted(PROGRAMS.glob("*.py")):
        yield path.stem, read_program(path)
    for name, source in ODD_SOURCES.items():
        yield name, Program(source)
    yield "missing file", Program(None)
    yield "file below a file", Program(b"", "main.py/under.py")
    yield "a folder", Program(None, "../tmp/folder.py")
    yield "absolute name", Program(b"print(__file__)\nimport sys\nprint(sys.argv, sys.path[0])\n1/0\n", "/workspace/main.py")
    yield (
        "roundabout name",
        Program(b"print(__file__)\nimport sys\nprint(sys.argv, sys.path[0])\n1/0\n", ".././workspace//main.py"),
    )


ALL = dict(programs())


async def said(backend: Backend, python: str, program: Program, *, warm: bool) -> str:
    async with open_box(backend) as box:
        if program.source is not None:
            put_file(box, "main.py", program.source)
        os.mkdir(f"{box.writable['/tmp']}/folder.py", dir_fd=box.files_fd)
        outcome = await box.run(program.command(python, warm=warm))
    return transcript(outcome)


def transcript(outcome: Outcome) -> str:
    end = f"{outcome.ending} {outcome.exit_code} {outcome.signal}"
    text = f"{end}\n--- stdout\n{outcome.stdout.text}\n--- stderr\n{outcome.stderr.text}"
    text = re.sub(r"0x[0-9a-f]+", "0x…", text)
    return re.sub(r"repeated \d+ more times", "repeated … more times", text)


@pytest.fixture(scope="session")
def guest_version(guest_python: str) -> str:
    return version_of(guest_python)


@pytest.mark.parametrize("name", ALL)
async def test_a_warm_program_says_what_a_cold_one_says(
    single_use: Backend, guest_python: str, guest_version: str, name: str
) -> None:
    if not ALL[name].fits(guest_version):
        pytest.skip(f"not a program for Python {guest_version}")
    warm, cold = await asyncio.gather(*(said(single_use, guest_python, ALL[name], warm=warm) for warm in (True, False)))
    assert warm == cold


@pytest.mark.parametrize("version", VERSIONS)
async def test_warm_programs_are_the_same_with_other_interpreters(version: str, guest_version: str, state_dir: str) -> None:
    skip_where_the_host_lacks("namespaces")
    python = find_interpreter(version)
    if python is None or version == guest_version:
        pytest.skip("that is the guest's own" if python else f"there is no Python {version} on this machine")
    turn = asyncio.Semaphore(AT_ONCE)

    async def differs(backend: Backend, name: str) -> bool:
        async with turn:
            warm = await said(backend, python, ALL[name], warm=True)
            return warm != await said(backend, python, ALL[name], warm=False)

    every = bool(os.environ.get("SANDBOX_EVERY_PROGRAM"))
    names = [name for name in ALL if ALL[name].fits(version) and (every or name.startswith(DIFFERS_BETWEEN_VERSIONS))]
    options = BackendOptions(guest_python=python, state_dir=state_dir, presets={"std": Preset(LARGE_PRESET)})
    async with open_backend("namespaces", options) as backend:
        found = await asyncio.gather(*(differs(backend, name) for name in names))
    assert [name for name, different in zip(names, found, strict=True) if different] == []
