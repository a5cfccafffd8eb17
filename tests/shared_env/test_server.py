"""The older entry points, as processes of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

MODULE = [sys.executable, "-m", "sandbox_runtime.shared_env.server"]
CODE = {"code": "def handler(event): return {'message': 'Hello!'}", "timeout": 10}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as ear:
        return int(ear.getsockname()[1])


@contextlib.contextmanager
def started(argv: list[str], url: str, folder: Path, **environment: str) -> Iterator[httpx.Client]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_") and name not in ("HOST", "PORT")}
    env = {**kept, "SANDBOX_STATE_DIR": str(folder), "SANDBOX_CHECK_LANGUAGES": "no", **environment}
    process = subprocess.Popen(argv, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        with httpx.Client(base_url=url, verify=False, timeout=30) as client:
            _wait(client, process)
            yield client
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.communicate()


def _wait(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 100
    while True:
        try:
            assert client.get("/health").json()["status"] == "healthy"
            return
        except (httpx.TransportError, ssl.SSLError):
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()[0].decode()
            time.sleep(0.05)


@pytest.mark.requirement("workspace-1.28", "workspace-1.21")
def test_the_module_serves_what_the_quick_start_asks_for(tmp_path: Path) -> None:
    port = free_port()
    with started([*MODULE, "--host", "127.0.0.1", "--port", str(port)], f"http://127.0.0.1:{port}", tmp_path) as client:
        told = client.post("/workspace/se/execute_code/my_session", json=CODE).json()
        assert told["result"] == {"message": "Hello!"}
        assert client.get("/workspace/se/healthy").json()["status"] == "success"


@pytest.mark.requirement("workspace-1.28")
def test_uvicorn_serves_the_app_by_its_name(tmp_path: Path) -> None:
    port = free_port()
    argv = [sys.executable, "-m", "uvicorn", "sandbox_runtime.shared_env.server:app", "--port", str(port)]
    with started(argv, f"http://127.0.0.1:{port}", tmp_path) as client:
        assert client.post("/workspace/se/execute_code/my_session", json=CODE).json()["exit_code"] == 0


@pytest.mark.requirement("workspace-1.28")
def test_it_speaks_tls_where_it_is_given_a_certificate(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    made = subprocess.run(["openssl", *words, "-keyout", str(key), "-out", str(certificate)], capture_output=True)
    assert made.returncode == 0, made.stderr
    port = free_port()
    argv = [*MODULE, "--port", str(port), "--ssl-keyfile", str(key), "--ssl-certfile", str(certificate)]
    with started(argv, f"https://127.0.0.1:{port}", tmp_path) as client:
        assert client.get("/workspace/se/healthy").status_code == 200


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--host", "0.0.0.0"], "SANDBOX_API_KEY"),
        (["--workers", "3"], "must be 1"),
        (["--ssl-keyfile", "k"], "together"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(flags: list[str], told: str, tmp_path: Path) -> None:
    env = {**os.environ, "SANDBOX_STATE_DIR": str(tmp_path), "SANDBOX_API_KEY": ""}
    done = subprocess.run([*MODULE, *flags], capture_output=True, timeout=60, env=env, cwd=tmp_path)
    assert done.returncode and told in done.stderr.decode() and b"Traceback" not in done.stderr


def test_importing_the_module_builds_nothing() -> None:
    code = "import sandbox_runtime.shared_env.server, sys; sys.exit('fastapi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
