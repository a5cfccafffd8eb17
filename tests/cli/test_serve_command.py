"""`sandbox serve` as a process: it serves, and it leaves nothing behind."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.cli.commands import COMMAND, clean_environment, sandbox


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server and its port."""
    port, set_to = free_port(), (f"state_dir={folder}", "log_format=json", "check_languages=no")
    command = [*COMMAND, "serve", "--port", str(port), *(word for one in set_to for word in ("--set", one))]
    with subprocess.Popen(command, env=clean_environment(), stderr=subprocess.PIPE, cwd=folder) as process:
        try:
            answering(port, process)
            yield process, port
        finally:
            process.kill()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Of a server that all tests share which do not end it."""
    with serving(tmp_path_factory.mktemp("served")) as (_, port):
        yield port


def answering(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and process.poll() is None:
        try:
            assert httpx.get(f"http://127.0.0.1:{port}/v1/ping", timeout=30).json() == "pong"
            return
        except httpx.TransportError:
            time.sleep(0.05)
    pytest.fail("the server did not come up")


def descendants(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    return [below for child in map(int, found) for below in (child, *descendants(child))]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_it_serves_and_stops_without_leaving_a_process(tmp_path: Path) -> None:
    job = {"code": "print(sum(range(10)))", "language": "python"}
    with serving(tmp_path) as (server, port):
        answer = httpx.post(f"http://127.0.0.1:{port}/run_code", json=job, timeout=60).json()
        assert (answer["status"], answer["run_result"]["stdout"]) == ("Success", "45\n")
        below = descendants(server.pid)
        assert below
        server.send_signal(signal.SIGTERM)
        _, log = server.communicate(timeout=60)
    assert not [pid for pid in below if alive(pid)]
    assert b"sum(range" not in log and b"Traceback" not in log


def test_a_body_over_the_bound_is_refused_on_the_wire_before_it_is_sent(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:
        wire.sendall(b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n")
        assert wire.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_garbage_on_the_wire_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:
        wire.sendall(b"\x00\xff garbage\r\n\r\n")
        assert wire.recv(4096).startswith(b"HTTP/1.1 400 ")
    assert httpx.get(f"http://127.0.0.1:{port}/v1/ping", timeout=30).json() == "pong"


def test_an_exposed_server_without_a_key_does_not_start() -> None:
    done = sandbox("serve", "--host", "0.0.0.0")
    assert done.returncode == 64 and b"api_key" in done.stderr and b"Traceback" not in done.stderr


def test_a_client_that_goes_away_in_the_middle_of_its_request_is_no_error(tmp_path: Path) -> None:
    with serving(tmp_path) as (server, port):
        for framing in (b"Content-Length: 1000\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as wire:
                wire.sendall(b"POST /run_code HTTP/1.1\r\nHost: localhost\r\n" + framing)
        assert httpx.get(f"http://127.0.0.1:{port}/v1/ping", timeout=30).json() == "pong"
        server.send_signal(signal.SIGINT)
        _, log = server.communicate(timeout=60)
    assert server.returncode == 0 and b"Traceback" not in log and b"unforeseen" not in log


def test_a_platform_that_cannot_be_opened_is_told_in_one_line(tmp_path: Path) -> None:
    done = sandbox("serve", "--port", "0", "--set", "guest_python=/nonexistent/python", "--set", f"state_dir={tmp_path}")
    assert done.returncode in (64, 69) and b"/nonexistent/python" in done.stderr and b"Traceback" not in done.stderr


def test_a_port_that_is_taken_is_told(tmp_path: Path, port: int) -> None:
    done = sandbox("serve", "--port", str(port), "--set", f"state_dir={tmp_path / 'second'}")
    assert done.returncode != 0 and b"address already in use" in done.stderr and b"Traceback" not in done.stderr
