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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FOLDER = ROOT / ".state" / "mcp-conformance"
BIN = FOLDER / "node_modules" / ".bin"
DAEMON = ROOT / ".venv" / "bin" / "mcp-sandboxd"
PACKAGES = ("@modelcontextprotocol/conformance@0.1.16", "@modelcontextprotocol/inspector@2.12.0", "node@22.23.3")
INSTALL_S, ANSWER_S, SCENARIO_S = 600, 120, 120
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
        product, stage = free_port(), free_port()
        daemon = [str(DAEMON), "--http", "--port", str(product), "--log-level", "error"]
        with started(daemon, product, folder), started([sys.executable, str(HERE / "stage.py"), str(stage)], stage, folder):
            ports = {"product": product, "stage": stage}
            rows = [*scenarios(ports), *inspected("HTTP", over_http(product), folder), *inspected("stdio", over_stdio(), folder)]
    print_table(rows)
    return 1 if any(row.failed for row in rows) else 0


def install() -> None:
    """Nothing to do where these versions are there."""
    stamp = FOLDER / "installed.json"
    if stamp.exists() and json.loads(stamp.read_text()) == list(PACKAGES):
        return
    if shutil.which("npm") is None:
        sys.exit("npm is needed to fetch the suite: install Node.js, or run `make languages LANGUAGES=nodejs`")
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "package.json").write_text('{"private": true}\n')
    words = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(FOLDER), *PACKAGES]
    subprocess.run(words, check=True, timeout=INSTALL_S)
    stamp.write_text(json.dumps(PACKAGES))


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
    own = {"SANDBOXRUNNER_SANDBOX_WORKSPACE_DIR": f"{folder}/sandboxes", "MCP_CATALOG_PATH": f"{folder}/catalog.json"}
    return {**os.environ, **own, "PATH": f"{BIN}:{os.environ.get('PATH', '')}", "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}


def scenarios(ports: Mapping[str, int]) -> Iterator[Row]:
    known = tomllib.loads((HERE / "scenarios.toml").read_text(encoding="utf-8"))
    for name in listed():
        against = known.get(name)
        if against is None:
            yield Row(name, "-", "FAILED", "the suite is newer than scenarios.toml: say there whether this applies")
        elif against not in ports:
            yield Row(name, "-", "n/a", against)
        else:
            yield scenario(name, against, ports[against])


def listed() -> list[str]:
    told = subprocess.run(
        [str(BIN / "conformance"), "list"], env=environment(""), capture_output=True, text=True, timeout=60, check=True
    )
    servers = told.stdout.partition("Client scenarios")[0]
    return re.findall(r"^\s*- (\S+)", servers, re.MULTILINE)


def scenario(name: str, against: str, port: int) -> Row:
    words = [str(BIN / "conformance"), "server", "--url", f"http://127.0.0.1:{port}/mcp", "--scenario", name]
    told = subprocess.run(words, env=environment(""), capture_output=True, text=True, timeout=SCENARIO_S)
    if told.returncode == 0:
        return Row(name, against, "passed")
    return Row(name, against, "FAILED", " ".join((told.stdout + told.stderr).split())[-400:])


def over_http(port: int) -> list[str]:
    return ["--transport", "http", "--server-url", f"http://127.0.0.1:{port}/mcp"]


def over_stdio() -> list[str]:
    return [str(DAEMON)]


def inspected(transport: str, target: list[str], folder: str) -> Iterator[Row]:
    for words, expected in INSPECTED:
        command = [str(BIN / "mcp-inspector"), "--cli", *target, *words]
        told = subprocess.run(command, env=environment(folder), capture_output=True, text=True, timeout=SCENARIO_S, cwd=folder)
        good = told.returncode == 0 and expected in told.stdout
        note = "" if good else " ".join((told.stdout + told.stderr).split())[-400:]
        name = " ".join(("inspector", words[1], *words[3:4]))
        yield Row(name, transport, "passed" if good else "FAILED", note)


def free_port() -> int:
    with socket.socket() as ear:
        ear.bind(("127.0.0.1", 0))
        return int(ear.getsockname()[1])


def print_table(rows: list[Row]) -> None:
    wide = max(len(row.name) for row in rows)
    for row in rows:
        print(f"{row.name:<{wide}}  {row.against:<8} {row.result:<7} {row.note}".rstrip())
    counts = {result: sum(row.result == result for row in rows) for result in ("passed", "FAILED", "n/a")}
    print(f"\n{counts['passed']} passed, {counts['FAILED']} failed, {counts['n/a']} do not apply")


if __name__ == "__main__":
    sys.exit(main())
