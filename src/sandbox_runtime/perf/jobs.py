"""The programs that are run, and what must come out of them. A figure for a wrong answer is no figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Program:
    """stdout None: whatever it prints. status and ending are those of the answer; ending None where any will do."""

    code: str
    stdout: str | None
    status: str = "Success"
    ending: str | None = None
    run_timeout_s: float = 30.0
    memory_limit_mb: int = -1
    language: str = "python"

    def request(self) -> dict[str, Any]:
        """The body of POST /run_code."""
        return {
            "code": self.code,
            "language": self.language,
            "run_timeout": self.run_timeout_s,
            "memory_limit_MB": self.memory_limit_mb,
        }

    def expectation(self) -> dict[str, str | None]:
        return {"stdout": self.stdout, "status": self.status, "ending": self.ending}


PLAIN = Program("print(sum(range(10)))\n", "45\n")
DATA = Program("import numpy, pandas\nprint(pandas.Series([1, 2]).sum())\n", "3\n", memory_limit_mb=1024)
OTHER_LANGUAGES = (
    Program("echo 45\n", "45\n", language="bash"),
    Program("int main() { return 0; }\n", "", language="cpp"),
)
"""Run once on a new server: afterwards it has nothing left to check in the background."""

_LIMITED = 0.2
_ROUGH = (
    Program("while True: pass\n", "", "Failed", "timed_out", _LIMITED),
    Program(
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor _ in range(4): os.fork()\ntime.sleep(60)\n",
        "",
        "Failed",
        "timed_out",
        _LIMITED,
    ),
    Program("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "", "Failed", "signaled"),
    Program("import ctypes\nctypes.string_at(0)\n", "", "Failed", "signaled"),
    Program("raise SystemExit(3)\n", "", "Failed", "exited"),
    Program("1 / 0\n", "", "Failed", "exited"),
    Program("held = bytearray(512 * 1024 * 1024)\n", "", "Failed", memory_limit_mb=48),
    Program("import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nprint('left')\n", "left\n"),
    Program("print('x' * 1_000_000)\n", None),
    Program("open('a', 'w').write('x' * 100_000)\nopen('/tmp/b', 'w').write('y')\nprint(45)\n", "45\n"),
)
SOAK = (*(PLAIN for _ in range(2 * len(_ROUGH))), *_ROUGH)
"""Two thirds ordinary runs; the others time out, are killed, crash, run out of memory, leave processes or files behind."""
