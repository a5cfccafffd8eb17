"""Hostile neighbours: pings of one client while others attack the same server.

    make test-neighbours        or: python scripts/neighbours.py [--seconds 8] [--only contexts] [--json FILE]

Starts a server of its own, runs each attack from other processes, and measures GET /v1/ping meanwhile. Fails where the 99th
percentile of any is 100 ms or more. Run it on a machine that does nothing else: it measures time.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

MOST_P99_S = 0.1
PAUSE_S = 0.005
START_WITHIN_S = 120.0
HALF_OPEN = 200
BEGINNINGS = (
    b"",
    b"GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n",
    b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
)
NEWLINES_LEAN, NEWLINES_CPP, LONG = 8_000, 24_000, 1_000_000
THEOREM = {"id": "one", "content": "theorem one : 1 + 1 = 2 := by sorry", "labels": {}}
CPP_ROW = {
    "id": "one", "task_id": "one", "name": "one", "language": "cpp", "prompt": "#include<assert.h>\nint one() {\n",
    "tests": "}\nint main() { assert(one() == 1); }\n", "stop_tokens": ["\n}"],
}  # fmt: skip
FLOOD = """
import json, os, socket, struct
line = socket.socket(fileno=os.dup(3))
text = json.dumps({"event": "display", "cell": 0, "data": {"application/json": [1] * (8 * 1024**2 // 3 - 100)}}).encode()
for _ in range(7):
    line.sendall(struct.pack(">I", len(text)) + text)
"""


@dataclass(frozen=True)
class Figures:
    """pings: how many were answered. The times are seconds."""

    attack: str
    pings: int
    p50_s: float
    p99_s: float
    max_s: float


class Client:
    """One kept connection; a new one where the server closed it."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, bytes]:
        data = json.dumps(body).encode() if body is not None else None
        self._connection.request(method, path, data, {"Content-Type": "application/json"} if data else {})
        answer = self._connection.getresponse()
        return answer.status, answer.read()


def submit_newlines(dataset: str, config: Mapping[str, Any], completion: str) -> Callable[[int], None]:
    def attack(port: int) -> None:
        client = Client(port)
        row = config["provided_data"]
        while True:
            client.ask("POST", "/submit", {"dataset": dataset, "id": row["id"], "completion": completion, "config": config})

    return attack


def lean(count: int) -> Callable[[int], None]:
    return submit_newlines("minif2f_lean4_test", {"provided_data": THEOREM}, "\n" * count + "x")


def cpp(count: int) -> Callable[[int], None]:
    code = "```cpp\n" + "\n" * count + "int one() { return 1; }\n```"
    return submit_newlines("multiple_cpp", {"provided_data": CPP_ROW}, code)


def contexts(port: int) -> None:
    """A context that sends messages of 8 MiB over its control socket, cell after cell."""
    client = Client(port)
    session = json.loads(client.ask("POST", "/api/v1/sessions", {"template_id": "python-basic"})[1])["id"]
    while True:
        status, told = client.ask("POST", f"/api/v1/sessions/{session}/contexts")
        path = f"/api/v1/sessions/{session}/contexts/{json.loads(told).get('id')}/execute"
        while status < 300:
            status, told = client.ask("POST", path, {"code": FLOOD, "timeout": 30})
            if b"DeadKernelError" in told:
                break


def half_open(port: int) -> None:
    """Silent connections, headers without end, and bodies that never come; opened again whenever the server closes them."""
    held: list[socket.socket] = []
    while True:
        held = [one for one in held if not _closed(one)]
        while len(held) < HALF_OPEN:
            held.append(half_opened(port, len(held)))
        time.sleep(0.05)


def half_opened(port: int, number: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(BEGINNINGS[number % len(BEGINNINGS)])
    connection.setblocking(False)
    return connection


def _closed(connection: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        if not connection.recv(4096):
            connection.close()
            return True
    return False


ATTACKS: Mapping[str, tuple[Callable[[int], None], int]] = {
    "nothing": (lambda _port: time.sleep(3600), 1),
    "minif2f-8000-newlines": (lean(NEWLINES_LEAN), 4),
    "minif2f-1MB-newlines": (lean(LONG), 2),
    "cpp-24000-newlines": (cpp(NEWLINES_CPP), 4),
    "cpp-1MB-newlines": (cpp(LONG), 2),
    "contexts-8MiB-messages": (contexts, 2),
    "half-open-200": (half_open, 1),
}
"""Each with the number of processes that run it."""


@contextlib.contextmanager
def server(**settings: str) -> Iterator[int]:
    """A server process with a state of its own; the port that it listens on."""
    with tempfile.TemporaryDirectory(prefix="neighbours-") as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        defaults = {"STATE_DIR": f"{folder}/state", "LOG_LEVEL": "error", "CHECK_LANGUAGES": "false"}
        env = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
        env |= {f"SANDBOX_{name}": value for name, value in {**defaults, **settings}.items()}
        command = [sys.executable, "-c", "from sandbox_runtime.cli.main import main; main()", "serve", "--port", str(port)]
        process = subprocess.Popen(command, env=env)
        try:
            _wait_until_up(process, port)
            yield port
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()
            process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_WITHIN_S
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if Client(port).ask("GET", "/v1/ping")[0] == 200:
                return
        time.sleep(0.05)
    raise SystemExit(f"the server did not come up (exit status {process.poll()})")


@contextlib.contextmanager
def attacked(port: int, name: str) -> Iterator[None]:
    attack, count = ATTACKS[name]
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=attack, args=(port,), daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join(10)


def measure(port: int, name: str, seconds: float) -> Figures:
    """Ping while the attack runs."""
    client, times = Client(port), []
    client.ask("GET", "/v1/ping")
    with attacked(port, name):
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            client.ask("GET", "/v1/ping")
            times.append(time.monotonic() - now)
            time.sleep(PAUSE_S)
    times.sort()
    return Figures(name, len(times), statistics.median(times), times[int(len(times) * 0.99)], times[-1])


def loop_lag(port: int) -> tuple[float, float]:
    """The samples of event loop lag above one second, and all of them, as the server's metrics tell."""
    text = Client(port).ask("GET", "/metrics")[1].decode()
    within = float(re.findall(r'sandbox_loop_lag_seconds_bucket\{le="1.0"\} (\S+)', text)[0])
    total = float(re.findall(r"sandbox_loop_lag_seconds_count (\S+)", text)[0])
    return total - within, total


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure pings while others attack the same server.")
    parser.add_argument("--seconds", type=float, default=8.0, help="how long each attack runs")
    parser.add_argument("--only", choices=list(ATTACKS), action="append", help="these attacks alone")
    parser.add_argument("--json", help="write the figures to this file as well")
    given = parser.parse_args()
    found = []
    with server() as port:
        for name in given.only or ATTACKS:
            figures = measure(port, name, given.seconds)
            found.append(figures)
            times = f"p50 {1e3 * figures.p50_s:7.1f}  p99 {1e3 * figures.p99_s:7.1f}  max {1e3 * figures.max_s:7.1f} ms"
            print(f"{name:24} {figures.pings:6} pings  {times}{'' if figures.p99_s < MOST_P99_S else '  TOO SLOW'}", flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump([asdict(figures) for figures in found], file, indent=2)
    return int(any(figures.p99_s >= MOST_P99_S for figures in found))


if __name__ == "__main__":
    sys.exit(main())
