"""Makes the blocking client from the one for event loops: the same code without `async` and `await`, with other names.

    python scripts/unasync.py            write src/sandbox_runtime/sdk/blocking anew
    python scripts/unasync.py --check    change nothing; fail where it is not as it would be written

Works on tokens, so that comments and docstrings stay. A name that exists in two forms must be in NAMES: one that is missed does
not pass the type checks.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

SDK = Path(__file__).parent.parent / "src" / "sandbox_runtime" / "sdk"
SOURCE, TARGET = SDK / "aio", SDK / "blocking"
NAMES = {
    "AsyncClient": "Client",
    "AsyncIterator": "Iterator",
    "Context": "SyncContext",
    "Outputs": "SyncOutputs",
    "Sandbox": "SyncSandbox",
    "SandboxClient": "SyncSandboxClient",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "aclosing": "closing",
    "aio": "blocking",
    "anext": "next",
    "aiter_bytes": "iter_bytes",
    "aread": "read",
    "asynccontextmanager": "contextmanager",
    "asyncio": "time",
    "in_thread": "call_directly",
}
"""asyncio is used for its sleep only. Names that end in _async lose the ending."""
_SUFFIX = "_async"
_DROPPED = ("async", "await")
_HEAD = '"""The blocking client of sessions. Made from the package `aio` beside it by scripts/unasync.py: change that one."""\n'


def twin(text: str) -> str:
    """The blocking form of a module's text, not formatted yet."""
    made: list[str] = []
    line, column = 1, 0
    lines = text.splitlines(keepends=True)
    skip = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (row, at), (end_row, end_at) = token.start, token.end
        if row > line:
            made.append("".join([lines[line - 1][column:], *lines[line : row - 1]]) if line <= len(lines) else "")
            line, column = row, 0
        gap = lines[row - 1][column:at] if row <= len(lines) else ""
        made.append("" if skip else gap)
        skip = token.type == tokenize.NAME and token.string in _DROPPED
        made.append("" if skip else _renamed(token))
        line, column = end_row, end_at
    return "".join(made)


def _renamed(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME:
        return NAMES.get(token.string, token.string.removesuffix(_SUFFIX))
    if token.type == tokenize.STRING and token.string.startswith('"""'):
        return _told(token.string)
    return token.string


def _told(docstring: str) -> str:
    """Examples in docstrings are code too."""
    plain = re.sub(r"\b(?:async|await) ", "", docstring)
    return re.sub(r"\b(SandboxClient|Sandbox|Context)(?=\()", lambda found: NAMES[found[0]], plain)


def formatted(text: str, name: str) -> str:
    """As ruff would have it: without the words that went, imports, loops and long lines fall otherwise."""
    ours = 'lint.isort.known-first-party = ["sandbox_runtime"]'
    check = ("check", "--fix-only", "--unsafe-fixes", "--select", "I,F811,UP028", "--config", ours, "--quiet")
    for command in (check, ("format", "--quiet")):
        argv = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(TARGET / name), "-"]
        text = subprocess.run(argv, input=text, capture_output=True, text=True, check=True, timeout=60).stdout
    return text


def modules() -> dict[str, str]:
    """File name → text, for the whole package."""
    made = {path.name: formatted(twin(path.read_text()), path.name) for path in sorted(SOURCE.glob("*.py"))}
    return {**made, "__init__.py": _HEAD}


def differing(made: dict[str, str]) -> list[str]:
    there = {path.name: path.read_text() for path in TARGET.glob("*.py")}
    return sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))


def main() -> int:
    made = modules()
    stale = differing(made)
    if "--check" in sys.argv[1:]:
        if stale:
            print(f"not as scripts/unasync.py writes them: {', '.join(stale)}", file=sys.stderr)
        return 1 if stale else 0
    TARGET.mkdir(exist_ok=True)
    for name in stale:
        if name in made:
            (TARGET / name).write_text(made[name])
        else:
            (TARGET / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
