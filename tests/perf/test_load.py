"""The load generator as a process of its own, against a server in this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count

import pytest
from tests.perf.peers import answer, chunked, peer, plain

from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.perf.http_client import Target
from sandbox_runtime.perf.jobs import PLAIN, Program
from sandbox_runtime.perf.load_client import Loader, open_loader


@pytest.fixture
async def loader() -> AsyncIterator[Loader]:
    async with open_loader() as opened:
        yield opened


async def test_a_request_is_sent_as_the_protocol_wants_it(loader: Loader) -> None:
    async with peer(lambda _: plain(answer())) as server:
        assert await loader.once(server.url, PLAIN) > 0
    assert server.paths == {"/run_code"}
    assert server.requests == [
        {"code": "print(sum(range(10)))\n", "language": "python", "run_timeout": 30.0, "memory_limit_MB": -1}
    ]


async def test_connections_are_kept_from_one_request_and_one_order_to_the_next(loader: Loader) -> None:
    async with peer(lambda _: plain(answer())) as server:
        for _ in range(5):
            await loader.once(server.url, PLAIN)
        await loader.for_seconds(server.url, PLAIN, concurrency=4, seconds=0.1, warmup_s=0.0)
    assert server.connections == 4


async def test_as_many_requests_are_under_way_at_once_as_were_asked_for(loader: Loader) -> None:
    async with peer(lambda _: plain(answer()), meet=16) as server:
        samples, elapsed_s = await loader.for_seconds(server.url, PLAIN, concurrency=16, seconds=0.2, warmup_s=0.05)
    assert server.most_at_once == 16
    assert elapsed_s >= 0.199
    assert 0 < len(samples) < len(server.requests)


async def test_a_window_that_is_over_before_the_first_answer_goes_on_until_it_came(loader: Loader) -> None:
    """However slow the server is, or the machine."""
    async with peer(lambda _: plain(answer()), meet=5) as server:
        load = asyncio.create_task(loader.for_seconds(server.url, PLAIN, concurrency=4, seconds=0.01, warmup_s=0.0))
        async with asyncio.timeout(60):
            while len(server.requests) < 4:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.02)  # the window is over
        server.met.set()
        samples, elapsed_s = await load
    assert len(samples) == 1 and elapsed_s > 0.01


async def test_a_fixed_number_of_requests_goes_through_the_programs_in_turn(loader: Loader) -> None:
    programs = [Program(f"print({number})", f"{number}\n") for number in range(3)]
    async with peer(lambda body: plain(answer(body["code"][6:-1] + "\n"))) as server:
        outpour = await loader.run_all(server.url, programs, concurrency=2, requests=9, within_s=10)
    assert (len(outpour.samples_s), outpour.wrong) == (9, 0)
    assert sorted(body["code"] for body in server.requests) == sorted([program.code for program in programs] * 3)


async def test_an_answer_in_pieces_is_understood(loader: Loader) -> None:
    async with peer(lambda _: chunked(answer())) as server:
        assert await loader.once(server.url, PLAIN) > 0


async def test_a_server_that_hangs_up_after_each_answer_is_connected_to_anew(loader: Loader) -> None:
    async with peer(lambda _: plain(answer(), extra="Connection: close\r\n")) as server:
        outpour = await loader.run_all(server.url, [PLAIN], concurrency=1, requests=3, within_s=10)
    assert (len(outpour.samples_s), outpour.wrong, server.connections) == (3, 0, 3)


async def test_a_wrong_output_is_no_figure(loader: Loader) -> None:
    async with peer(lambda _: plain(answer("46\n"))) as server:
        with pytest.raises(PlatformFault, match=r"1 of 1 answers were wrong: stdout is '46\\n' instead of '45\\n'"):
            await loader.once(server.url, PLAIN)


async def test_wrong_answers_are_counted_beside_right_ones(loader: Loader) -> None:
    turns = count()
    async with peer(lambda _: plain(answer("45\n" if next(turns) % 2 else "no\n"))) as server:
        outpour = await loader.run_all(server.url, [PLAIN], concurrency=1, requests=10, within_s=10)
    assert (len(outpour.samples_s), outpour.wrong) == (5, 5)


async def test_a_refusal_is_told_with_its_status_and_text(loader: Loader) -> None:
    async with peer(lambda _: plain({"detail": "too busy"}, "503 Service Unavailable")) as server:
        with pytest.raises(PlatformFault, match=r"HTTP 503: .*too busy"):
            await loader.once(server.url, PLAIN)


async def test_an_answer_of_another_shape_is_told_as_such(loader: Loader) -> None:
    async with peer(lambda _: plain({"result": "45"})) as server:
        with pytest.raises(PlatformFault, match="another shape"):
            await loader.once(server.url, PLAIN)


async def test_a_server_that_hangs_up_without_an_answer_is_told(loader: Loader) -> None:
    async with peer(lambda _: b"") as server:
        with pytest.raises(PlatformFault, match="closed before the answer"):
            await loader.once(server.url, PLAIN)


async def test_what_is_no_http_is_told(loader: Loader) -> None:
    async with peer(lambda _: b"SSH-2.0-OpenSSH\r\n\r\n") as server:
        with pytest.raises(PlatformFault, match="no HTTP"):
            await loader.once(server.url, PLAIN)


async def test_a_port_where_nobody_listens_is_told_and_the_generator_lives_on(loader: Loader) -> None:
    async with peer(lambda _: plain(answer())) as server:
        with pytest.raises(PlatformFault, match="cannot be reached"):
            await loader.once("http://127.0.0.1:1", PLAIN)
        assert await loader.once(server.url, PLAIN) > 0


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://127.0.0.1:8080", Target("127.0.0.1", 8080, "/run_code")),
        ("http://peer/", Target("peer", 80, "/run_code")),
        ("peer:9000", Target("peer", 9000, "/run_code")),
        ("https://peer/base/", Target("peer", 443, "/base/run_code", tls=True)),
        ("http://[::1]:81", Target("::1", 81, "/run_code")),
    ],
)
def test_the_address_of_a_peer_may_be_written_in_several_ways(url: str, target: Target) -> None:
    assert Target.of(url) == target


@pytest.mark.parametrize("url", ["", "ftp://peer", "http://", "http://peer:port", "http://peer:99999"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest):
        Target.of(url)
