"""mcp-sandboxd whose standard streams are no pipes: files, /dev/null, terminals, or nothing at all."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.mcp.conftest import COMMAND, environment

WITHIN_S = 120.0
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
RUN = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "create_sandbox", "arguments": {}},
}
PING = {"jsonrpc": "2.0", "id": 3, "method": "ping"}


def serve(workspace: Path, **streams: Any) -> subprocess.CompletedProcess[bytes]:
    skip_where_the_host_lacks("namespaces")
    words = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    command = [sys.executable, "-c", COMMAND, "--tools", "all"]
    return subprocess.run(command, env=environment(workspace), timeout=WITHIN_S, **words)


def messages(*given: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in given)


def answers(text: bytes) -> dict[int, Any]:
    found = [json.loads(line) for line in text.splitlines()]
    return {one["id"]: one for one in found if "id" in one}


def test_messages_of_a_file_are_answered_all_and_in_order(workspace: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked.jsonl"
    asked.write_bytes(messages(HELLO, READY, RUN, PING))
    with asked.open("rb") as file:
        done = serve(workspace, stdin=file)
    assert done.returncode == 0, done.stderr
    told = answers(done.stdout)
    assert list(told) == [1, 2, 3] and not told[2]["result"].get("isError"), told


def test_answers_are_written_to_a_file(workspace: Path, tmp_path: Path) -> None:
    asked, told = tmp_path / "asked.jsonl", tmp_path / "told.jsonl"
    asked.write_bytes(messages(HELLO, PING))
    with asked.open("rb") as file, told.open("ab") as out:
        out.write(b'{"kept": true}\n')
        out.flush()
        done = serve(workspace, stdin=file, stdout=out)
    assert done.returncode == 0, done.stderr
    assert told.read_bytes().startswith(b'{"kept": true}\n')
    assert set(answers(told.read_bytes())) == {1, 3}


def test_a_file_whose_last_line_has_no_end_is_read_to_it(workspace: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked.jsonl"
    asked.write_bytes(messages(HELLO, PING).rstrip(b"\n"))
    with asked.open("rb") as file:
        done = serve(workspace, stdin=file)
    assert done.returncode == 0 and set(answers(done.stdout)) == {1, 3}


def test_a_line_of_a_file_that_is_too_long_is_refused_and_the_rest_is_read(workspace: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked.jsonl"
    asked.write_bytes(b'"' + b"x" * (11 * 1024 * 1024) + b'"\n' + messages(HELLO, PING))
    with asked.open("rb") as file:
        done = serve(workspace, stdin=file)
    assert done.returncode == 0 and b"exceeds" in done.stdout
    assert {1, 3} <= set(answers(done.stdout))


def test_nothing_to_read_ends_it_well(workspace: Path) -> None:
    done = serve(workspace, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr


def test_nowhere_to_write_is_fine(workspace: Path, tmp_path: Path) -> None:
    done = serve(workspace, stdout=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    skip_where_the_host_lacks("namespaces")
    command = [sys.executable, "-c", COMMAND]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    piped = subprocess.run(command, env=environment(workspace), timeout=WITHIN_S, input=messages(HELLO), **streams)
    assert piped.returncode == 0, piped.stderr


def test_a_full_disk_ends_it_without_a_crash(workspace: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked.jsonl"
    asked.write_bytes(messages(HELLO))
    with asked.open("rb") as file, open("/dev/full", "wb", buffering=0) as full:
        done = serve(workspace, stdin=file, stdout=full)
    assert done.returncode >= 0 and b"Traceback" not in done.stderr, done.stderr


def test_a_terminal_can_be_typed_into(workspace: Path) -> None:
    skip_where_the_host_lacks("namespaces")
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            env=environment(workspace),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.write(ours, messages(PING))
        assert process.stdout is not None
        first = process.stdout.readline()
        os.write(ours, b"\x04")
        _, err = process.communicate(timeout=WITHIN_S)
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == 0 and 3 in answers(first), err


@pytest.mark.parametrize(("closed", "name"), [("<&-", "standard input"), (">&-", "standard output")])
def test_streams_that_are_closed_are_named(workspace: Path, closed: str, name: str) -> None:
    skip_where_the_host_lacks("namespaces")
    done = subprocess.run(
        ["bash", "-c", f'exec "$0" "$@" {closed}', sys.executable, "-c", COMMAND],
        env=environment(workspace),
        timeout=WITHIN_S,
        capture_output=True,
    )
    assert done.returncode == 64 and name in done.stderr.decode() and b"Traceback" not in done.stderr, done.stderr
