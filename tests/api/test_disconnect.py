"""Runs of clients that disconnect are cancelled and leave nothing behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from tests.api.servers import RunningServer, listening

from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLEEPS = {"code": "sleep 50", "language": "bash", "run_timeout": 55}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    state_dir = str(tmp_path_factory.mktemp("state"))
    settings = Settings(
        state_dir=state_dir, max_concurrency=2, queue_size=8, pool_size=0, check_languages=False, log_level="error"
    )
    async with listening(settings) as opened:
        async with httpx.AsyncClient(base_url=opened.url, timeout=60) as client:
            await client.post("/run_code", json={"code": "true", "language": "bash"})
        yield opened


async def asking(server: RunningServer, body: dict[str, object], path: str = "/run_code") -> asyncio.StreamWriter:
    """Send a request without waiting for the response."""
    _, wire = await server.connect()
    sent = json.dumps(body).encode()
    wire.write(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(sent)) + sent)
    await wire.drain()
    return wire


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)


async def test_the_run_of_a_client_that_hangs_up_is_stopped(server: RunningServer) -> None:
    wire = await asking(server, SLEEPS)
    await until(lambda: server.platform.pool.in_use == 1)
    wire.close()
    await until(lambda: server.platform.pool.in_use == 0 and server.platform.admission.busy == 0)


@pytest.mark.requirement("judge-8.14")
async def test_judging_is_stopped_as_well(server: RunningServer) -> None:
    row = {"id": 1, "content": "", "test": [{"input": {"stdin": ""}, "output": {"stdout": "x"}}] * 3}
    config = {"language": "bash", "provided_data": row, "run_timeout": 55}
    body = {"dataset": "code_contests", "id": 1, "completion": "```bash\nsleep 50\n```", "config": config}
    wire = await asking(server, body, "/submit")
    await until(lambda: server.platform.pool.in_use >= 1)
    wire.close()
    await until(lambda: server.platform.pool.in_use == 0 and server.platform.admission.busy == 0)


async def test_a_compiler_is_stopped_as_well(server: RunningServer) -> None:
    wire = await asking(server, {"code": '#include "/dev/zero"\n', "language": "cpp", "compile_timeout": 55})
    await until(lambda: server.platform.pool.in_use == 1)
    wire.close()
    await until(lambda: server.platform.pool.in_use == 0)


async def test_who_hangs_up_while_waiting_leaves_the_queue(server: RunningServer) -> None:
    wires = [await asking(server, SLEEPS) for _ in range(5)]
    await until(lambda: server.platform.admission.busy == 2 and server.platform.admission.waiting == 3)
    for wire in wires[2:]:
        wire.close()
    await until(lambda: server.platform.admission.waiting == 0)
    assert server.platform.admission.busy == 2
    for wire in wires[:2]:
        wire.close()
    await until(lambda: server.platform.admission.busy == 0)


async def test_a_place_that_was_left_is_given_to_who_waits(server: RunningServer) -> None:
    wires = [await asking(server, SLEEPS) for _ in range(2)]
    await until(lambda: server.platform.admission.busy == 2)
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        waiting = asyncio.create_task(client.post("/run_code", json={"code": "echo 1", "language": "bash"}))
        await until(lambda: server.platform.admission.waiting == 1)
        for wire in wires:
            wire.close()
        assert (await waiting).json()["run_result"]["stdout"] == "1\n"


async def test_a_client_that_waits_for_a_long_run_is_served(server: RunningServer) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        answer = (await client.post("/run_code", json={"code": "sleep 0.5; echo 1", "language": "bash"})).json()
        again = (await client.post("/run_code", json={"code": "echo 2", "language": "bash"})).json()
    assert (answer["run_result"]["stdout"], again["run_result"]["stdout"]) == ("1\n", "2\n")


async def test_many_that_hang_up_leave_nothing_behind(server: RunningServer) -> None:
    for delay_s in (0.0, 0.02, 0.05, 0.06, 0.1):
        wires = [await asking(server, {"code": "sleep 0.06", "language": "bash"}) for _ in range(6)]
        await asyncio.sleep(delay_s)
        for wire in wires:
            wire.close()
    await until(
        lambda: (server.platform.pool.in_use, server.platform.admission.busy, server.platform.admission.waiting) == (0, 0, 0)
    )
    assert not [task for task in asyncio.all_tasks() if "_until_gone" in repr(task)]


async def test_a_shutdown_stops_what_runs(tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        async with listening(Settings(state_dir=str(tmp_path), pool_size=0, check_languages=False, log_level="error")) as opened:
            wire = await asking(opened, SLEEPS)
            await until(lambda: opened.platform.pool.in_use == 1)
        wire.close()
