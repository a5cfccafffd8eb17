"""Batches: every completion gets exactly one result, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, QuotaExceeded, TooMany, Unavailable
from sandbox_runtime.judge.batches import Batches, BatchLine, BatchOptions, LineConfig, line_judge, open_batches
from sandbox_runtime.model import Batch, BatchState, Blame, Medium, Reason, StorageKind, StorageLimits, Verdict
from sandbox_runtime.quantities import GIB
from sandbox_runtime.store import BatchFilter, Store, open_store
from sandbox_runtime.telemetry import open_log
from sandbox_runtime.workspace.ledger import Ledger

RIGHT = Verdict(True, Reason.accepted, None)
WRONG = Verdict(False, Reason.wrong_answer, Blame.program, message="4 is not 5")
WITHIN_S = 30.0


class Judging:
    """Judges as it is told to: `right` is right, `stuck` waits for a word, everything else is wrong."""

    def __init__(self) -> None:
        self.seen: list[tuple[int | str, LineConfig]] = []
        self.go = asyncio.Event()
        self.stuck = asyncio.Event()
        self.cancelled = 0
        self.faults: list[Exception] = []

    async def __call__(self, line: BatchLine, config: LineConfig) -> tuple[Verdict, Mapping[str, str]]:
        self.seen.append((line.id, config))
        if self.faults:
            raise self.faults.pop()
        if line.completion == "stuck":
            self.stuck.set()
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        return (WRONG if line.completion == "wrong" else RIGHT), {"language": "python"}


ROOMY = StorageLimits(memory_bytes=GIB, disk_bytes=GIB)


@pytest.fixture
def judging() -> Judging:
    return Judging()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_judge, "FIRST_WAIT_S", 0.01)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(f"sqlite:///{tmp_path}/store.db") as opened:
        yield opened


@contextlib.asynccontextmanager
async def opened(
    store: Store, judging: Judging, folder: Path, ledger: Ledger | None = None, **options: Any
) -> AsyncIterator[Batches]:
    chosen = BatchOptions(folder=folder / "batches", **{"parallel": 2, **options})
    async with open_batches(store, judging, {"mbpp"}, chosen, open_log("error", "text"), ledger or Ledger(ROOMY)) as found:
        yield found


@pytest.fixture
async def batches(store: Store, judging: Judging, tmp_path: Path) -> AsyncIterator[Batches]:
    async with opened(store, judging, tmp_path) as found:
        yield found


async def sent(*completions: str, first: int = 0) -> AsyncIterator[bytes]:
    for number, completion in enumerate(completions, first):
        yield json.dumps({"id": number, "completion": completion}).encode() + b"\n"


async def pieces(*found: bytes) -> AsyncIterator[bytes]:
    for piece in found:
        yield piece


async def ended(batches: Batches, name: str) -> Batch:
    async with asyncio.timeout(WITHIN_S):
        async for batch in batches.follow(name):
            if batch is not None and batch.ended:
                return batch
    raise AssertionError("it was followed to its end and did not end")


async def results(batches: Batches, name: str, **how: Any) -> list[dict[str, Any]]:
    text = b"".join([piece async for piece in batches.results(name, **how)])
    return [json.loads(line) for line in text.splitlines()]


async def test_every_completion_gets_a_result_with_its_reason(batches: Batches) -> None:
    batch, new = await batches.create("mbpp", {}, sent("right", "wrong", "right"))
    done = await ended(batches, batch.id)
    assert new and (done.state, done.total, done.judged, done.accepted) == (BatchState.completed, 3, 3, 2)
    assert done.reasons == {"accepted": 2, "wrong_answer": 1}
    found = sorted(await results(batches, batch.id), key=lambda one: one["index"])
    assert [(one["id"], one["accepted"], one["reason"]) for one in found] == [
        (0, True, "accepted"),
        (1, False, "wrong_answer"),
        (2, True, "accepted"),
    ]
    assert found[1]["message"] == "4 is not 5" and found[1]["groups"] == {"language": "python"}


async def test_lines_may_be_cut_anywhere_and_need_no_last_end(batches: Batches) -> None:
    whole = b'{"id": "a", "completion": "right", "sample": 3}\n\n  \n{"id": "b", "completion": "w\\u00f6rng"}'
    batch, _ = await batches.create("mbpp", {}, pieces(*(whole[n : n + 7] for n in range(0, len(whole), 7))))
    await ended(batches, batch.id)
    assert sorted((one["id"], one.get("sample")) for one in await results(batches, batch.id)) == [("a", 3), ("b", None)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "line 1 is not JSON"),
        (b"[]", "must be an object"),
        (b'{"id": 1}', "needs a completion"),
        (b'{"completion": "x"}', "needs an id"),
        (b'{"id": true, "completion": "x"}', "needs an id"),
        (b'{"id": 1, "completion": "x", "colour": 1}', "colour"),
        (b'{"id": 1, "completion": "x", "config": []}', "config must be an object"),
        (b'{"id": 1, "completion": "x", "sample": [1]}', "sample"),
        (b"[" * 3000, "not JSON"),
        (b"", "at least one"),
        (b'{"id": 1, "completion": "%s"}' % (b"x" * 5000), "more than 4000 bytes"),
    ],
)
async def test_a_line_that_is_wrong_refuses_the_batch_and_leaves_nothing(
    store: Store, judging: Judging, tmp_path: Path, line: bytes, told: str
) -> None:
    async with opened(store, judging, tmp_path, max_line_bytes=4000) as batches:
        with pytest.raises(InvalidRequest, match=told):
            await batches.create("mbpp", {}, pieces(line))
        assert list((tmp_path / "batches").iterdir()) == []
        assert (await batches.list(BatchFilter())).total == 0


async def test_a_batch_that_is_too_large_is_refused(store: Store, judging: Judging, tmp_path: Path) -> None:
    async with opened(store, judging, tmp_path, max_bytes=100) as batches:
        with pytest.raises(InvalidRequest, match="batch_max_bytes"):
            await batches.create("mbpp", {}, sent(*["right"] * 10))
        assert list((tmp_path / "batches").iterdir()) == []


async def test_a_client_that_goes_away_while_it_sends_leaves_nothing(batches: Batches, tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b'{"id": 1, "completion": "right"}\n'
        raise ConnectionResetError

    with pytest.raises((Unavailable, ConnectionResetError)):
        await batches.create("mbpp", {}, broken())
    assert list((tmp_path / "batches").iterdir()) == []


@pytest.mark.parametrize(
    "config",
    [{"colour": 1}, {"run_timeout": 0}, {"run_timeout": True}, {"language": 5}, {"extra": []}, {"provided_data": [1]}],
)
async def test_options_that_do_not_fit_are_refused_at_once(batches: Batches, config: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="config"):
        await batches.create("mbpp", config, sent("right"))


async def test_a_dataset_nobody_knows_is_refused_unless_its_class_is_named(batches: Batches) -> None:
    with pytest.raises(NotFound, match="sandbox datasets list"):
        await batches.create("unheard-of", {}, sent("right"))
    batch, _ = await batches.create("unheard-of", {"dataset_type": "MBPPDataset"}, sent("right"))
    assert (await ended(batches, batch.id)).accepted == 1


async def test_options_of_a_line_go_before_those_of_the_batch(batches: Batches, judging: Judging) -> None:
    line = b'{"id": 1, "completion": "right", "config": {"language": "go", "extra": null}}'
    batch, _ = await batches.create("mbpp", {"language": "cpp", "run_timeout": 3, "extra": {"a": 1}}, pieces(line))
    await ended(batches, batch.id)
    options = judging.seen[0][1].options
    assert (options.language, options.run_timeout_s, options.extra) == ("go", 3, {"a": 1})


async def test_options_of_a_line_that_do_not_fit_are_told_in_its_result(batches: Batches) -> None:
    line = b'{"id": 1, "completion": "right", "config": {"colour": 1}}\n'
    batch, _ = await batches.create("mbpp", {}, pieces(line, b'{"id": 2, "completion": "right"}'))
    done = await ended(batches, batch.id)
    (refused,) = [one for one in await results(batches, batch.id) if one["id"] == 1]
    assert (refused["reason"], refused["blame"], done.not_judged, done.accepted) == ("not_judged", "caller", 1, 1)
    assert "colour" in refused["message"]


async def test_the_same_key_finds_the_same_batch(batches: Batches) -> None:
    first, _ = await batches.create("mbpp", {}, sent("right"), key="run-1", owner="ann")
    again, new = await batches.create("mbpp", {}, sent("wrong"), key="run-1", owner="ann")
    other, other_new = await batches.create("mbpp", {}, sent("right"), key="run-1", owner="bob")
    assert (again.id, new, other_new) == (first.id, False, True) and other.id != first.id


async def test_many_who_send_one_key_at_once_share_one_batch(batches: Batches, tmp_path: Path) -> None:
    found = await asyncio.gather(*(batches.create("mbpp", {}, sent("right"), key="run-1") for _ in range(8)))
    assert len({batch.id for batch, _ in found}) == 1 and sum(new for _, new in found) == 1
    assert len(list((tmp_path / "batches").iterdir())) == 1


async def test_a_key_of_another_dataset_is_refused(batches: Batches) -> None:
    await batches.create("mbpp", {}, sent("right"), key="run-1")
    with pytest.raises(InvalidRequest, match="another key"):
        await batches.create("x", {"dataset_type": "MBPPDataset"}, sent("right"), key="run-1")


async def test_nobody_sees_the_batch_of_another_owner(batches: Batches) -> None:
    batch, _ = await batches.create("mbpp", {}, sent("right"), owner="ann")
    for verb in (batches.get, batches.cancel, batches.delete):
        with pytest.raises(NotFound):
            await verb(batch.id, "bob")
    for stream in (batches.follow(batch.id, "bob"), batches.results(batch.id, "bob")):
        with pytest.raises(NotFound):
            await anext(stream)
    assert (await batches.get(batch.id, "ann")).id == (await batches.get(batch.id)).id


async def test_an_owner_has_only_so_many_at_once(store: Store, judging: Judging, tmp_path: Path) -> None:
    async with opened(store, judging, tmp_path, max_live_per_owner=1) as batches:
        first, _ = await batches.create("mbpp", {}, sent("stuck"), owner="ann")
        with pytest.raises(TooMany):
            await batches.create("mbpp", {}, sent("right"), owner="ann")
        await batches.create("mbpp", {}, sent("right"), owner="bob")
        judging.go.set()
        await ended(batches, first.id)
        await batches.create("mbpp", {}, sent("right"), owner="ann")


async def test_a_small_batch_of_another_owner_does_not_wait_for_a_large_one(
    store: Store, judging: Judging, tmp_path: Path
) -> None:
    async with opened(store, judging, tmp_path, parallel=1) as batches:
        await batches.create("mbpp", {}, sent("stuck", *["right"] * 500), owner="ann")
        await judging.stuck.wait()
        small, _ = await batches.create("mbpp", {}, sent(*["right"] * 3, first=1000), owner="bob")
        judging.go.set()
        await ended(batches, small.id)
        order = [name for name, _ in judging.seen if isinstance(name, int)]
    assert max(order.index(name) for name in (1000, 1001, 1002)) < 20


async def test_a_cancelled_batch_keeps_what_was_judged_and_stops_the_rest(batches: Batches, judging: Judging) -> None:
    batch, _ = await batches.create("mbpp", {}, sent("right", "stuck", "stuck", *["right"] * 50))
    async with asyncio.timeout(WITHIN_S):
        await judging.stuck.wait()
        while (await batches.get(batch.id)).judged < 1:
            await asyncio.sleep(0.01)
    cancelled = await batches.cancel(batch.id)
    assert (cancelled.state, cancelled.ended) == (BatchState.cancelled, True) and judging.cancelled >= 1
    seen = len(judging.seen)
    assert len(await results(batches, batch.id)) == (await batches.get(batch.id)).judged >= 1
    with pytest.raises(Conflict):
        await batches.cancel(batch.id)
    assert len(judging.seen) == seen


async def test_a_deleted_batch_is_gone_with_its_files(batches: Batches, tmp_path: Path) -> None:
    batch, _ = await batches.create("mbpp", {}, sent("stuck"))
    await batches.delete(batch.id)
    with pytest.raises(NotFound):
        await batches.get(batch.id)
    assert list((tmp_path / "batches").iterdir()) == []


async def test_a_fault_of_ours_is_tried_again_and_is_no_wrong_answer(batches: Batches, judging: Judging) -> None:
    judging.faults = [Unavailable("no box"), TooMany("full", retry_after_s=1)]
    batch, _ = await batches.create("mbpp", {}, sent("right"))
    done = await ended(batches, batch.id)
    assert (done.accepted, done.not_judged, len(judging.seen)) == (1, 0, 3)


async def test_a_fault_that_stays_is_told_as_not_judged(batches: Batches, judging: Judging) -> None:
    judging.faults = [Unavailable("no box")] * 100
    batch, _ = await batches.create("mbpp", {}, sent("right"))
    done = await ended(batches, batch.id)
    (result,) = await results(batches, batch.id)
    assert (done.not_judged, result["reason"], result["blame"], result["message"]) == (1, "not_judged", "platform", "no box")


async def test_an_id_nobody_knows_is_told_in_its_result(batches: Batches, judging: Judging) -> None:
    judging.faults = [NotFound("there is no row 7")]
    batch, _ = await batches.create("mbpp", {}, sent("right"))
    await ended(batches, batch.id)
    (result,) = await results(batches, batch.id)
    assert (result["reason"], result["blame"]) == ("not_judged", "caller") and len(judging.seen) == 1


async def test_a_restart_goes_on_where_it_was(store: Store, judging: Judging, tmp_path: Path) -> None:
    async with opened(store, judging, tmp_path) as batches:
        batch, _ = await batches.create("mbpp", {}, sent("right", "right", "stuck", "stuck", *["wrong"] * 5))
        async with asyncio.timeout(WITHIN_S):
            while (await batches.get(batch.id)).judged < 2:
                await asyncio.sleep(0.01)
    before = len(judging.seen)
    # As a process leaves it that died while it wrote.
    with open(tmp_path / "batches" / batch.id / "results.jsonl", "ab") as file:
        file.write(b'{"index": 5, "id"')
    judging.go.set()
    async with opened(store, judging, tmp_path) as batches:
        done = await ended(batches, batch.id)
        indexes = [one["index"] for one in await results(batches, batch.id)]
    assert (done.state, done.judged, done.accepted) == (BatchState.completed, 9, 4)
    assert sorted(indexes) == list(range(9)) and len(judging.seen) - before == 7


async def test_completions_that_are_gone_from_the_disk_make_it_fail_truthfully(
    store: Store, judging: Judging, tmp_path: Path
) -> None:
    async with opened(store, judging, tmp_path) as batches:
        batch, _ = await batches.create("mbpp", {}, sent("stuck"))
        await judging.stuck.wait()
    (tmp_path / "batches" / batch.id / "input.jsonl").unlink()
    async with opened(store, judging, tmp_path) as batches:
        failed = await batches.get(batch.id)
    assert failed.state is BatchState.failed and "missing on disk" in failed.message


async def test_what_an_upload_left_that_was_broken_off_goes_at_the_next_start(
    store: Store, judging: Judging, tmp_path: Path
) -> None:
    left = tmp_path / "batches" / "batch_left"
    left.mkdir(parents=True)
    (left / "input.jsonl").write_text("{}")
    async with opened(store, judging, tmp_path):
        assert not left.exists()


async def test_results_can_be_read_from_any_line_on_and_followed(batches: Batches, judging: Judging) -> None:
    batch, _ = await batches.create("mbpp", {}, sent("right", "stuck"))
    stream = batches.results(batch.id, follow=True)
    async with asyncio.timeout(WITHIN_S):
        first = await anext(stream)
        judging.go.set()
        rest = b"".join([piece async for piece in stream])
    assert [json.loads(line)["index"] for line in (first + rest).splitlines()] == [0, 1]
    again = b"".join([piece async for piece in batches.results(batch.id, offset=len(first))])
    assert again == rest


async def test_old_ones_go_and_young_ones_stay(batches: Batches, tmp_path: Path) -> None:
    batch, _ = await batches.create("mbpp", {}, sent("right"))
    done = await ended(batches, batch.id)
    assert done.ended_ms is not None
    assert await batches.delete_expired(done.ended_ms + 7 * 86_400_000) == 0
    assert await batches.delete_expired(done.ended_ms + 7 * 86_400_000 + 1) == 1
    assert list((tmp_path / "batches").iterdir()) == []


async def test_every_change_is_in_the_audit(batches: Batches, store: Store) -> None:
    batch, _ = await batches.create("mbpp", {}, sent("stuck"), owner="ann", actor="key-1")
    await batches.cancel(batch.id, "ann", "key-1")
    await batches.delete(batch.id, "ann", "key-1")
    page = await store.audit.list()
    assert [(one.action, one.kind, one.actor) for one in page.items] == [
        ("delete", "batch", "key-1"),
        ("cancel", "batch", "key-1"),
        ("create", "batch", "key-1"),
    ]


def input_of(folder: Path, name: str) -> Path:
    return folder / "batches" / name / "input.jsonl"


async def test_what_was_sent_is_gone_when_the_batch_is_cancelled(store: Store, judging: Judging, tmp_path: Path) -> None:
    ledger = Ledger(ROOMY)
    async with opened(store, judging, tmp_path, ledger) as batches:
        batch, _ = await batches.create("mbpp", {}, sent("stuck", *["x" * 10_000] * 20), owner="ann")
        assert ledger.usage(Medium.disk, "ann").owner_by_kind == {StorageKind.batches: batch.input_bytes}
        await judging.stuck.wait()
        await batches.cancel(batch.id)
        assert not input_of(tmp_path, batch.id).exists()
        assert ledger.held(Medium.disk) < 10_000


async def test_what_was_sent_is_gone_when_the_batch_is_judged(store: Store, judging: Judging, tmp_path: Path) -> None:
    ledger = Ledger(ROOMY)
    async with opened(store, judging, tmp_path, ledger) as batches:
        batch, _ = await batches.create("mbpp", {}, sent("right", "wrong"), owner="ann")
        told = await results(batches, batch.id, follow=True)
        assert len(told) == 2 and not input_of(tmp_path, batch.id).exists()
        held = (tmp_path / "batches" / batch.id / "results.jsonl").stat().st_size
        assert ledger.usage(Medium.disk, "ann").owner_bytes == held
    again = Ledger(ROOMY)
    async with opened(store, judging, tmp_path, again) as batches:
        assert again.usage(Medium.disk, "ann").owner_bytes == held
        assert len(await results(batches, batch.id)) == 2
        await batches.delete(batch.id)
        assert again.held(Medium.disk) == 0


async def test_an_owner_has_so_many_bytes_of_batches(store: Store, judging: Judging, tmp_path: Path) -> None:
    ledger = Ledger(StorageLimits(memory_bytes=GIB, disk_bytes=GIB, owner_batch_bytes=5000))
    async with opened(store, judging, tmp_path, ledger) as batches:
        with pytest.raises(QuotaExceeded, match="quota for batches"):
            await batches.create("mbpp", {}, sent(*["x" * 1000] * 10), owner="ann")
        assert ledger.held(Medium.disk) == 0 and list((tmp_path / "batches").iterdir()) == []
        await batches.create("mbpp", {}, sent("right"), owner="ann")
