"""The published conformance suite and the inspector of MCP against this server; a table of what was run, and what was not.

    python scripts/mcp/conformance.py

Both come from the npm registry, at the versions named here, into .state/mcp-conformance, with the Node.js that they need.
Ends with 1 where a scenario that applies fails, and where the suite has one that scenarios.toml does not know.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FOLDER = ROOT / ".state" / "mcp-conformance"
BIN = FOLDER / "node_modules" / ".bin"
DAEMON, SANDBOX = (ROOT / ".venv" / "bin" / name for name in ("mcp-sandboxd", "sandbox"))
# The suite's newest release is the one that knows the newest revision of the protocol.
DESCRIBED = ("package.json", "package-lock.json")
"""Beside this file: versions and hashes of the suite, the inspector, the Node.js they need and all they depend on."""
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
"""Those that the suite has scenarios for."""
INSTALL_S, ANSWER_S, SCENARIO_S, SUITE_S = 600, 120, 120, 600
INSPECTED: tuple[tuple[tuple[str, ...], str], ...] = (
    (("--method", "tools/list"), "create_sandbox"),
    (("--method", "tools/call", "--tool-name", "create_sandbox"), "sandbox_id"),
    (("--method", "tools/call", "--tool-name", "list_sandboxes"), "sandboxes"),
    (("--method", "resources/list"), "config://server"),
    (("--method", "resources/read", "--uri", "config://server"), "contents"),
    (("--method", "resources/templates/list"), "file://"),
    (("--method", "prompts/list"), "solve_and_test"),
    (("--method", "prompts/get", "--prompt-name", "solve_and_test", "--prompt-args", "task=count"), "messages"),
)
# What needs a sandbox that outlives the connection in which it was made.
INSPECTED_LATER: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("--method", "tools/call", "--tool-name", "run_python", "--tool-arg", "{sandbox}", "code=print('six times', 6 * 7)"),
        "times 42",
    ),
    (("--method", "tools/call", "--tool-name", "write_file", "--tool-arg", "{sandbox}", "path=a.txt", "content=x"), "a.txt"),
    (("--method", "tools/call", "--tool-name", "list_files", "--tool-arg", "{sandbox}"), "a.txt"),
    (("--method", "tools/call", "--tool-name", "terminate_sandbox", "--tool-arg", "{sandbox}"), "terminated"),
)


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    against: str
    result: str
    note: str = ""

    @property
    def failed(self) -> bool:
        return self.result == "FAILED"


def main() -> int:
    install()
    with tempfile.TemporaryDirectory(prefix="mcp-conformance-") as folder:
        product, stage, main_server = free_port(), free_port(), free_port()
        daemon = [str(DAEMON), "--http", "--port", str(product), "--tools", "all", "--log-level", "error"]
        staged, serve = [sys.executable, str(HERE / "stage.py"), str(stage)], [str(SANDBOX), "serve", "--port", str(main_server)]
        with started(daemon, product, folder), started(staged, stage, folder), started(serve, main_server, folder):
            rows = [*scenarios(product, stage), *all_inspected(product, main_server, folder)]
    print_table(rows)
    return 1 if any(row.failed for row in rows) else 0


def install() -> None:
    """Nothing to do where these versions are there."""
    stamp, wanted = FOLDER / "installed.json", [(HERE / name).read_text() for name in DESCRIBED]
    if stamp.exists() and json.loads(stamp.read_text()) == wanted:
        return
    if shutil.which("npm") is None:
        sys.exit("npm is needed to fetch the suite: install Node.js with it (on Debian: apt-get install -y npm)")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in zip(DESCRIBED, wanted, strict=True):
        (FOLDER / name).write_text(text)
    words = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(FOLDER)]
    # As every other client on this system: what the system trusts is trusted, a company's own authority included.
    options = f"{os.environ.get('NODE_OPTIONS', '')} --use-openssl-ca".strip()
    try:
        subprocess.run(words, check=True, timeout=INSTALL_S, env={**os.environ, "NODE_OPTIONS": options})
    except subprocess.SubprocessError as error:
        sys.exit(f"npm could not fetch the suite (see above): {error}")
    stamp.write_text(json.dumps(wanted))


@contextlib.contextmanager
def started(command: list[str], port: int, folder: str) -> Iterator[None]:
    with open(Path(folder) / f"{port}.log", "w+", encoding="utf-8") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment(folder), cwd=folder)
        try:
            wait_until_it_answers(server, port, log.name)
            yield
        finally:
            server.terminate()
            try:
                server.wait(timeout=30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def wait_until_it_answers(server: subprocess.Popen[bytes], port: int, log: str) -> None:
    ends_at = time.monotonic() + ANSWER_S
    while server.poll() is None and time.monotonic() < ends_at:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    sys.exit(f"a server did not come up: {Path(log).read_text(encoding='utf-8')[-2000:]}")


def environment(folder: str) -> dict[str, str]:
    """folder: for what servers and the inspector keep."""
    own = {
        "SANDBOXRUNNER_SANDBOX_WORKSPACE_DIR": f"{folder}/sandboxes",
        "SANDBOX_STATE_DIR": f"{folder}/state",
        "SANDBOX_CHECK_LANGUAGES": "false",
        "MCP_CATALOG_PATH": f"{folder}/catalog.json",
    }
    return {**os.environ, **own, "PATH": f"{BIN}:{os.environ.get('PATH', '')}", "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}


def scenarios(product: int, stage: int) -> Iterator[Row]:
    known = tomllib.loads((HERE / "scenarios.toml").read_text(encoding="utf-8"))
    revisions_of = listed()
    for revision in REVISIONS:
        expected = [name for name, revisions in revisions_of.items() if revision in revisions]
        yield from whole_suite(revision, expected, stage)
        yield from (scenario(name, revision, product) for name in expected if name in known["product"])
    for name, revisions in revisions_of.items():
        if not set(REVISIONS) & set(revisions):
            why = known["does_not_apply"].get(name)
            yield Row(name, "-", "n/a" if why else "FAILED", why or "scenarios.toml does not say why this does not apply")


def listed() -> dict[str, list[str]]:
    """Each scenario, and the revisions that it is for."""
    words = [str(BIN / "conformance"), "list"]
    told = subprocess.run(words, env=environment(""), capture_output=True, text=True, timeout=60, check=True)
    servers = told.stdout.partition("Client scenarios")[0]
    return {name: revisions.split(",") for name, revisions in re.findall(r"^\s*- (\S+) \[([^\]]*)\]", servers, re.MULTILINE)}


def whole_suite(revision: str, expected: list[str], port: int) -> Iterator[Row]:
    """Every scenario of a revision in one go, against the stage. One that checked nothing has not passed."""
    told = suite(port, revision, "--suite", "all")
    counted = re.findall(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", told.stdout, re.MULTILINE)
    counts = {name: (int(passed), int(failed)) for name, passed, failed in counted}
    for name in expected:
        passed, failed = counts.get(name, (0, 0))
        if passed and not failed:
            yield Row(name, f"stage {revision}", "passed", f"{passed} checks")
        else:
            yield Row(name, f"stage {revision}", "FAILED", scenario(name, revision, port).note or "nothing was checked")


def scenario(name: str, revision: str, port: int) -> Row:
    told = suite(port, revision, "--scenario", name)
    note = "" if told.returncode == 0 else " ".join((told.stdout + told.stderr).split())[-400:]
    return Row(name, f"product {revision}", "FAILED" if note else "passed", note)


def suite(port: int, revision: str, *which: str) -> subprocess.CompletedProcess[str]:
    words = [str(BIN / "conformance"), "server", "--url", f"http://127.0.0.1:{port}/mcp", "--spec-version", revision, *which]
    return subprocess.run(words, env=environment(""), capture_output=True, text=True, timeout=SUITE_S)


def all_inspected(product: int, main_server: int, folder: str) -> Iterator[Row]:
    """Over HTTP; over standard streams with an engine of its own, and in front of a server."""
    over_http = ("--transport", "http", "--server-url", f"http://127.0.0.1:{product}/mcp")
    inspector, in_front = Inspector(folder), ("--server", in_front_of(main_server, folder))
    yield from inspector.rows("HTTP", over_http, INSPECTED)
    yield from inspector.rows("HTTP", over_http, INSPECTED_LATER)
    yield from inspector.rows("stdio", (str(DAEMON),), INSPECTED)
    yield from inspector.rows("--server", in_front, INSPECTED[:2])
    yield from inspector.rows("--server", in_front, INSPECTED_LATER)


def in_front_of(main_server: int, folder: str) -> str:
    """The name of a server in the inspector's catalog, which has the form of a client's configuration."""
    words = ["--tools", "all", "--server", f"http://127.0.0.1:{main_server}"]
    catalog = {"mcpServers": {"in-front": {"type": "stdio", "command": str(DAEMON), "args": words}}}
    Path(environment(folder)["MCP_CATALOG_PATH"]).write_text(json.dumps(catalog), encoding="utf-8")
    return "in-front"


class Inspector:
    """Remembers the sandbox that was made last."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._sandbox_id = ""

    def rows(self, transport: str, target: tuple[str, ...], asked: tuple[tuple[tuple[str, ...], str], ...]) -> Iterator[Row]:
        for words, expected in asked:
            filled = [word.replace("{sandbox}", f"sandbox_id={self._sandbox_id}") for word in words]
            told = self._told([*target, *filled])
            made = re.search(r'"sandbox_id": "([0-9a-f-]{36})"', told.stdout)
            self._sandbox_id = made[1] if made else self._sandbox_id
            good = told.returncode == 0 and expected in told.stdout
            note = "" if good else " ".join((told.stdout + told.stderr).split())[-400:]
            name = " ".join(("inspector", words[1], *words[3:4]))
            yield Row(name, transport, "passed" if good else "FAILED", note)

    def _told(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        command = [str(BIN / "mcp-inspector"), "--cli", *words]
        environ = environment(self._folder)
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=SCENARIO_S, cwd=self._folder)


def free_port() -> int:
    with socket.socket() as ear:
        ear.bind(("127.0.0.1", 0))
        return int(ear.getsockname()[1])


def print_table(rows: list[Row]) -> None:
    wide = max(len(row.name) for row in rows)
    for row in rows:
        print(f"{row.name:<{wide}}  {row.against:<18} {row.result:<7} {row.note}".rstrip())
    counts = {result: sum(row.result == result for row in rows) for result in ("passed", "FAILED", "n/a")}
    print(f"\n{counts['passed']} passed, {counts['FAILED']} failed, {counts['n/a']} do not apply")


if __name__ == "__main__":
    sys.exit(main())
