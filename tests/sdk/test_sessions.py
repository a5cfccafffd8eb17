"""The client of sessions against a real server: for an event loop, and its blocking twin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.sdk.served import a_way_to

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, Unavailable
from sandbox_runtime.sdk import Sandbox, SandboxClient, SyncSandbox, SyncSandboxClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def client(sessions_url: str) -> AsyncIterator[SandboxClient]:
    async with SandboxClient(sessions_url) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def box(client: SandboxClient) -> AsyncIterator[Sandbox]:
    async with Sandbox(client=client) as opened:
        yield opened


@pytest.mark.requirement("sdk-1.01", "sdk-1.02", "workspace-5.01")
async def test_the_form_that_the_contract_names(sessions_url: str) -> None:
    client = SandboxClient(sessions_url)
    await client.create_session(session_id="my_session", config={"timeout": 60})
    code = "def handler(event):\n    print('called')\n    return {'twice': event.get('n', 4) * 2}"
    result = await client.execute_code("my_session", code, timeout=10)
    assert (result.stdout, result.stderr, result.exit_code, result.result) == ("called\n", "", 0, {"twice": 8})
    assert result.metrics is not None and result.metrics.duration_ms > 0
    assert (await client.execute("my_session", "echo $((6*7)); exit 3")).exit_code == 3
    await client.upload_file("my_session", b"hello", "note.txt")
    assert await client.download_file("my_session", "note.txt") == b"hello"
    await client.close_session("my_session")
    with pytest.raises(NotFound):
        await client.get_session("my_session")
    await client.close()


@pytest.mark.requirement("sdk-1.03")
async def test_a_session_with_the_words_of_the_workspace_interface(client: SandboxClient) -> None:
    made = await client.create_session(config={"cpu_quota": 1, "memory_limit": 262144, "timeout": 30, "allow_network": False})
    assert made.status == "running"
    assert (await client.execute_code(made.id, "print('there')")).stdout == "there\n"
    await client.close_session(made.id)


async def test_a_session_is_paused_and_resumed_or_told_why_not(client: SandboxClient) -> None:
    made = await client.create_session(network="none")
    assert made.network == "none"
    try:
        assert (await client.pause_session(made.id)).status == "paused"
    except Unavailable as error:
        assert "cannot be paused: " in str(error)
    else:
        with pytest.raises(Conflict, match="resume it first"):
            await client.execute_code(made.id, "print(1)")
        assert (await client.resume_session(made.id)).status == "running"
    assert (await client.execute_code(made.id, "print(1)")).stdout == "1\n"
    await client.close_session(made.id)


@pytest.mark.requirement("sdk-1.05")
async def test_a_sandbox_ends_with_its_block(client: SandboxClient) -> None:
    async with Sandbox(client=client, env_vars={"COLOUR": "blue"}) as box:
        result = await box.run("import os; print(os.environ['COLOUR'])")
        assert result.ok and result.stdout == "blue\n"
    with pytest.raises(NotFound):
        await client.get_session(box.id)


async def test_a_program_that_fails_is_a_result(box: Sandbox) -> None:
    result = await box.run("raise SystemExit(7)")
    assert not result.ok and result.ended and result.exit_code == 7
    slow = await box.run("while True: pass", timeout=1)
    assert slow.status == "timeout" and not slow.ok


async def test_events_input_environment_and_languages_are_passed_on(box: Sandbox) -> None:
    assert (await box.run("def handler(event): return event['n'] + 1", event={"n": 41})).result == 42
    echoed = await box.run("import os, sys; print(sys.stdin.read() + os.environ['A'])", stdin="in ", env={"A": "b"})
    assert echoed.stdout == "in b\n"
    assert (await box.run("echo $BASH", language="bash")).stdout == "/bin/bash\n"
    assert (await box.shell("printf", "%s|", "a b", "c'd")).stdout == "a b|c'd|"


@pytest.mark.requirement("sdk-1.09")
async def test_files_go_in_and_come_out_piece_by_piece(box: Sandbox, tmp_path: Path) -> None:
    source, target = tmp_path / "large.bin", tmp_path / "back.bin"
    source.write_bytes(bytes(range(256)) * 80_000)
    await box.upload(source, "data/large.bin")
    await box.write("note.txt", "grüße")
    assert await box.read("note.txt") == "grüße".encode()
    assert (await box.shell("sha256sum data/large.bin | cut -c1-64; cat note.txt")).stdout.endswith("grüße")
    await box.download("/workspace/data/large.bin", target)
    assert target.read_bytes() == source.read_bytes()
    assert {one.name for one in await box.files()} >= {"note.txt", "data/large.bin"}
    assert [one.size for one in await box.files("data") if one.type != "directory"] == [source.stat().st_size]


async def test_a_file_that_is_not_there_is_not_found(box: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        await box.read("nothing")
    with pytest.raises(NotFound):
        await box.download("nothing", tmp_path / "nothing")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["../etc/passwd", "a/../../b"])
async def test_paths_that_lead_out_are_refused_by_the_server_too(client: SandboxClient, box: Sandbox, path: str) -> None:
    with pytest.raises(InvalidRequest):
        await client.upload_file(box.id, b"x", path)


async def test_output_comes_while_the_program_runs(box: Sandbox) -> None:
    await box.write("gate", "")
    code = "import os, time\nprint('first', flush=True)\nwhile os.path.exists('gate'): time.sleep(0.01)\nprint('last')"
    seen = b""
    async for output in box.stream(code):
        seen += output.data
        if seen == b"first\n":
            await box_open(box)
    assert seen == b"first\nlast\n"


async def box_open(box: Sandbox) -> None:
    """By another door than the execution that waits: a session runs one thing after another."""
    async with await box.context() as python:
        await python.run("import os; os.unlink('gate')")


@pytest.mark.requirement("sdk-1.06")
async def test_a_connection_that_breaks_costs_no_byte_and_doubles_none(sessions_url: str, box: Sandbox) -> None:
    code = (
        "import sys, time\nfor n in range(400):\n    print(f'{n:04}' * 50, flush=True)\n"
        "    print(n, file=sys.stderr, flush=True)\n    time.sleep(0.002)"
    )
    async with a_way_to(sessions_url) as (url, way), SandboxClient(url) as far:
        submitted = await far.submit_code(box.id, code)
        way.cut_after_bytes = [15_000] * 2
        seen = {"stdout": b"", "stderr": b""}
        async for output in far.follow(submitted.id):
            assert output.offset == len(seen[output.stream])
            seen[output.stream] += output.data
        assert way.cuts == 2
    assert seen["stdout"] == b"".join(b"%04d" % n * 50 + b"\n" for n in range(400))
    assert seen["stderr"] == b"".join(b"%d\n" % n for n in range(400))


async def test_following_begins_where_it_is_told_to(client: SandboxClient, box: Sandbox) -> None:
    done = await box.run("import sys; print('0123456789'); print('abc', file=sys.stderr)")
    pieces = [(one.stream, one.offset, one.data) async for one in client.follow(done.id, stdout_from=4, stderr_from=3)]
    assert b"".join(data for stream, _, data in pieces if stream == "stdout") == b"456789\n"
    assert b"".join(data for stream, _, data in pieces if stream == "stderr") == b"\n"


@pytest.mark.requirement("sdk-1.08")
async def test_an_answer_that_was_lost_runs_nothing_twice(sessions_url: str, box: Sandbox) -> None:
    async with a_way_to(sessions_url) as (url, way), SandboxClient(url) as far:
        await far.health()
        way.cut_after_bytes = [0]
        done = await far.execute_code(box.id, "open('count', 'a').write('x'); print(open('count').read())")
        assert way.cuts == 1 and done.stdout == "x\n"


async def test_what_was_submitted_goes_on_and_can_be_waited_for_listed_and_cancelled(client: SandboxClient, box: Sandbox) -> None:
    quick = await client.submit_code(box.id, "print('done')")
    assert (await client.wait_execution(quick.id, 30)).stdout == "done\n"
    slow = await client.submit_code(box.id, "import time; time.sleep(60)", 100)
    with pytest.raises(Unavailable, match="after 0 s"):
        await client.wait_execution(slow.id, 0)
    assert (await client.cancel_execution(slow.id)).status == "cancelled"
    page = await client.list_executions(box.id)
    assert {quick.id, slow.id} <= {one.id for one in page.items} and page.total >= 2


@pytest.mark.requirement("sdk-1.10")
async def test_a_live_interpreter_keeps_its_variables(box: Sandbox) -> None:
    async with await box.context() as python:
        await python.run("x = 40")
        assert (await python.run("print(x + 2)")).stdout == "42\n"
        shown = await python.run("x")
        assert shown.displays and "40" in str(shown.displays)
        assert [one.id for one in await box.contexts()] == [python.id]
        await python.restart()
        assert "NameError" in str((await python.run("x")).model_dump())
    assert await box.contexts() == []


@pytest.mark.requirement("sdk-1.10")
async def test_a_cell_can_be_interrupted_and_the_variables_stay(box: Sandbox) -> None:
    async with await box.context() as python:
        await python.run("x = 1")
        running = asyncio.create_task(python.run("import time\nopen('begun', 'w').close()\ntime.sleep(60)", timeout=90))
        async with asyncio.timeout(60):
            while "begun" not in [entry.name for entry in await box.files()]:
                await asyncio.sleep(0.01)
        await python.interrupt()
        assert not (await running).ok
        assert (await python.run("print(x)")).stdout == "1\n"


@pytest.mark.requirement("sdk-1.11")
async def test_copies_have_files_and_variables_and_go_their_own_way(box: Sandbox) -> None:
    await box.write("note", "old")
    python = await box.context()
    await python.run("x = [1]")
    copies = await box.fork(2)
    try:
        for number, copy in enumerate(copies):
            [mine] = await copy.contexts()
            assert (await mine.run(f"x.append({number}); print(x)")).stdout == f"[1, {number}]\n"
            assert await copy.read("note") == b"old"
            await copy.write("note", "new")
        assert await box.read("note") == b"old" and (await python.run("print(x)")).stdout == "[1]\n"
    finally:
        await asyncio.gather(*(copy.close() for copy in copies))


async def test_sessions_are_listed_shown_and_ended(client: SandboxClient, box: Sandbox) -> None:
    page = await client.list_sessions(status="running", limit=200)
    assert box.id in {one.id for one in page.items} and page.total >= 1
    assert (await box.refresh()).status == "running"
    async with Sandbox.attach(box.id, client=client) as same:
        assert same.id == box.id
    ended = await client.terminate_session(box.id)
    assert ended.ended and ended.status == "terminated"
    with pytest.raises(Conflict):
        await box.run("print(1)")


async def test_a_name_that_is_taken_is_a_conflict(client: SandboxClient, box: Sandbox) -> None:
    with pytest.raises(Conflict):
        await client.create_session(box.id)


async def test_templates_can_be_listed(client: SandboxClient) -> None:
    assert "python-basic" in {one.id for one in await client.list_templates()}


async def test_something_typed_on_a_terminal_is_answered(client: SandboxClient, box: Sandbox) -> None:
    shell = await client.open_terminal(box.id, rows=30, columns=100)
    await client.type_in(shell.id, b"stty size; read answer\n")
    seen = b""
    async for output in client.follow(shell.id):
        seen += output.data
        if b"30 100" in seen and b"again" not in seen:
            await client.resize_terminal(shell.id, 31, 101)
            await client.type_in(shell.id, b"x\necho again; stty size; exit 4\n")
    assert b"31 101" in seen
    assert (await client.get_execution(shell.id)).exit_code == 4
    with pytest.raises(Conflict):
        await client.type_in(shell.id, b"x")


async def test_bytes_are_typed_as_they_are(client: SandboxClient, box: Sandbox) -> None:
    shell = await client.open_terminal(box.id, "stty raw -echo; echo ready; head -c 4 | od -An -tx1")
    seen = b""
    async for output in client.follow(shell.id):
        seen += output.data
        if seen.strip() == b"ready":
            await client.type_in(shell.id, b"\x00\xff\r\x1b")
    assert b"00 ff 0d 1b" in seen


@pytest.mark.requirement("sdk-1.04")
async def test_the_blocking_twin_does_the_same(sessions_url: str, tmp_path: Path) -> None:
    def blocking() -> None:
        with SyncSandbox(base_url=sessions_url) as box:
            assert box.run("def handler(event): return event['n'] * 2", event={"n": 21}).result == 42
            box.write("a", "text")
            assert box.download("a", tmp_path / "a").read_bytes() == b"text"
            assert b"".join(one.data for one in box.stream("print('x' * 1000)")) == b"x" * 1000 + b"\n"
            with box.context() as python:
                python.run("y = 1")
                [copy] = box.fork()
                with copy:
                    assert copy.contexts()[0].run("print(y)").stdout == "1\n"
        with SyncSandboxClient(sessions_url) as client, pytest.raises(NotFound):
            client.get_session(box.id)

    await asyncio.to_thread(blocking)
