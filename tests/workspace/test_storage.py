"""Bytes under a key, in a folder and in a real server that speaks S3: what holds for both."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import boto3
import httpx
import pytest
from botocore.config import Config
from tests.workspace.areas import Folder

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, Unavailable
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace import S3Options, SessionFiles, Storage, StorageOptions, open_storage, presign_file
from sandbox_runtime.workspace.storage import delete_below, read_all


async def of(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def got(storage: Storage, key: str, offset: int = 0, length: int | None = None) -> bytes:
    return b"".join([piece async for piece in storage.get(key, offset, length)])


async def keys(storage: Storage, prefix: str = "") -> list[str]:
    return [stored.key for stored in await storage.list(prefix)]


@pytest.mark.requirement("control_plane-7.02")
async def test_what_was_put_is_got(storage: Storage) -> None:
    assert await storage.put("a/b", of(b"one", b"", b"two")) == 6
    assert await got(storage, "a/b") == b"onetwo"
    found = await storage.stat("a/b")
    assert (found.key, found.size_bytes) == ("a/b", 6) and found.etag


async def test_an_empty_object_is_an_object(storage: Storage) -> None:
    await storage.put("empty", of())
    assert await got(storage, "empty") == b"" and (await storage.stat("empty")).size_bytes == 0


async def test_putting_again_replaces_the_whole(storage: Storage) -> None:
    await storage.put("k", of(b"a long text"))
    await storage.put("k", of(b"short"))
    assert await got(storage, "k") == b"short"


@pytest.mark.parametrize(
    ("offset", "length", "expected"), [(2, 3, b"234"), (7, None, b"789"), (8, 50, b"89"), (10, 5, b""), (3, 0, b"")]
)
async def test_a_part_is_got_by_offset_and_length(storage: Storage, offset: int, length: int | None, expected: bytes) -> None:
    await storage.put("k", of(b"0123456789"))
    assert await got(storage, "k", offset, length) == expected


async def test_what_is_not_there_is_told_so(storage: Storage) -> None:
    for asked in (got(storage, "no/such"), storage.stat("no/such"), got(storage, "no/such", 0, 0)):
        with pytest.raises(NotFound, match="no/such"):
            await asked
    await storage.delete(["no/such"])


async def test_keys_are_listed_by_prefix_in_order(storage: Storage) -> None:
    for key in ("s/2/x", "s/1/b", "s/1/a", "s/10/c", "other"):
        await storage.put(key, of(b"1"))
    assert await keys(storage, "s/1/") == ["s/1/a", "s/1/b"]
    assert await keys(storage, "s/1") == ["s/1/a", "s/1/b", "s/10/c"]
    assert await keys(storage) == ["other", "s/1/a", "s/1/b", "s/10/c", "s/2/x"]
    assert [found.key for found in await storage.list("s/", 2)] == ["s/1/a", "s/1/b"]
    assert await keys(storage, "none/") == []


async def test_deleting_below_a_prefix_leaves_the_rest(storage: Storage) -> None:
    for number in range(5):
        await storage.put(f"s/1/{number}", of(b"x"))
    await storage.put("s/10/x", of(b"x"))
    assert await delete_below(storage, "s/1/") == 5
    assert await keys(storage) == ["s/10/x"]


async def test_an_object_of_many_parts_comes_back_whole(storage: Storage) -> None:
    block = os.urandom(MIB)
    assert await storage.put("large", of(*[block] * 21, b"end")) == 21 * MIB + 3
    assert await got(storage, "large") == block * 21 + b"end"
    assert await got(storage, "large", 21 * MIB) == b"end"


async def breaks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield bytes(MIB)
    raise Conflict("the source broke")


@pytest.mark.parametrize("count", [0, 1, 20])
async def test_a_source_that_breaks_leaves_what_was_there(storage: Storage, count: int) -> None:
    await storage.put("k", of(b"before"))
    with pytest.raises(Conflict, match="the source broke"):
        await storage.put("k", breaks(count))
    assert await got(storage, "k") == b"before"
    assert await keys(storage) == ["k"]


async def test_a_put_that_is_cancelled_leaves_nothing(storage: Storage, tmp_path: Path) -> None:
    stuck = asyncio.Event()

    async def never_ends() -> AsyncIterator[bytes]:
        yield bytes(20 * MIB)
        stuck.set()
        await asyncio.sleep(60)

    putting = asyncio.create_task(storage.put("k", never_ends()))
    await stuck.wait()
    putting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await putting
    assert await keys(storage) == []
    assert not [path for path in (tmp_path / "storage").rglob("*") if path.is_file()]


async def test_an_upload_in_parts_that_fails_leaves_no_parts(s3_options: S3Options) -> None:
    async with open_storage(StorageOptions("", s3_options)) as storage:
        with pytest.raises(Conflict):
            await storage.put("k", breaks(20))
    config = Config(s3={"addressing_style": "path"})
    client = boto3.client(
        "s3",
        endpoint_url=s3_options.endpoint_url,
        region_name=s3_options.region,
        aws_access_key_id=s3_options.access_key_id,
        aws_secret_access_key=s3_options.secret_access_key,
        config=config,
    )
    uploads = await asyncio.to_thread(client.list_multipart_uploads, Bucket=s3_options.bucket)
    assert [upload["Key"] for upload in uploads.get("Uploads", [])] == []


@pytest.mark.parametrize(
    "key", ["", "/a", "a/", "a//b", "../a", "a/../b", ".", "a/./b", "a\nb", "a\0b", "x" * 256, "/".join("x" * 600)]
)
async def test_a_key_that_could_lead_elsewhere_is_refused(storage: Storage, key: str) -> None:
    for asked in (storage.put(key, of(b"")), got(storage, key), storage.stat(key), storage.delete([key])):
        with pytest.raises(InvalidRequest, match="key"):
            await asked


async def test_names_of_any_language_are_keys(storage: Storage) -> None:
    await storage.put("sitzung/größe +%20 &?#", of(b"1"))
    assert await keys(storage, "sitzung/") == ["sitzung/größe +%20 &?#"]
    assert await got(storage, "sitzung/größe +%20 &?#") == b"1"


async def test_many_puts_at_once_do_not_mix(storage: Storage) -> None:
    await asyncio.gather(*(storage.put(f"many/{number}", of(b"%d" % number * 1000)) for number in range(20)))
    for number in range(20):
        assert await got(storage, f"many/{number}") == b"%d" % number * 1000


async def test_more_than_asked_for_is_not_read_into_memory(storage: Storage) -> None:
    await storage.put("k", of(b"12345"))
    assert await read_all(storage, "k", 5) == b"12345"
    with pytest.raises(Exception, match="more than 4 bytes"):
        await read_all(storage, "k", 4)


async def test_a_storage_that_works_passes_its_check(storage: Storage) -> None:
    await storage.check()


async def test_a_local_storage_gives_no_addresses_and_forgets_what_a_dead_server_left(tmp_path: Path) -> None:
    (tmp_path / ".incoming").mkdir()
    (tmp_path / ".incoming/old").write_bytes(b"half a file")
    (tmp_path / ".incoming/young").write_bytes(b"of a server that runs")
    os.utime(tmp_path / ".incoming/old", (1, 1))
    async with open_storage(StorageOptions(str(tmp_path))) as storage:
        assert await storage.presign("k", 60) is None
        assert await keys(storage) == []
    assert os.listdir(tmp_path / ".incoming") == ["young"]


async def test_a_link_in_the_folder_of_a_storage_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/x").write_text("secret")
    async with open_storage(StorageOptions(str(tmp_path / "storage"))) as storage:
        (tmp_path / "storage/link").symlink_to(tmp_path / "secret")
        with pytest.raises(Unavailable):
            await got(storage, "link/x")
        assert await keys(storage) == []


async def test_a_wrong_secret_is_refused(s3_options: S3Options) -> None:
    wrong = dataclasses.replace(s3_options, secret_access_key="wrong")
    async with open_storage(StorageOptions("", wrong)) as storage:
        for asked in (storage.put("k", of(b"1")), got(storage, "k"), storage.list(""), storage.check(), storage.delete(["k"])):
            with pytest.raises(Unavailable, match="refuses us"):
                await asked


async def test_an_unknown_key_is_refused(s3_options: S3Options) -> None:
    async with open_storage(StorageOptions("", dataclasses.replace(s3_options, access_key_id="nobody"))) as storage:
        with pytest.raises(Unavailable, match="refuses us"):
            await storage.put("k", of(b"1"))


async def test_a_bucket_that_is_not_there_is_told(s3_options: S3Options) -> None:
    async with open_storage(StorageOptions("", dataclasses.replace(s3_options, bucket="no-such-bucket"))) as storage:
        with pytest.raises(Unavailable, match="create it"):
            await storage.check()


async def test_a_server_that_does_not_answer_is_told(s3_options: S3Options) -> None:
    gone = dataclasses.replace(s3_options, endpoint_url="http://127.0.0.1:9")
    async with open_storage(StorageOptions("", gone)) as storage:
        with pytest.raises(Unavailable, match="does not answer"):
            await storage.check()


async def test_s3_without_its_client_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aioboto3", None)
    monkeypatch.delitem(sys.modules, "sandbox_runtime.workspace.storage.s3", raising=False)
    with pytest.raises(Unavailable, match=r"sandbox-runtime\[s3\]"):
        async with open_storage(StorageOptions("", S3Options("bucket"))):
            pass


async def test_anyone_downloads_by_a_presigned_address_and_by_no_other(s3_options: S3Options) -> None:
    async with open_storage(StorageOptions("", s3_options)) as storage, httpx.AsyncClient(trust_env=False) as client:
        await storage.put("k", of(b"content"))
        url = await storage.presign("k", 60, "größe.txt")
        assert url is not None
        answer = await client.get(url)
        assert (answer.status_code, answer.content) == (200, b"content")
        assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.txt"
        assert (await client.get(url.partition("?")[0])).status_code == 403
        assert (await client.get(url.replace("/k?", "/other?"))).status_code == 403
        assert (await client.put(url, content=b"changed")).status_code == 403


async def test_a_presigned_address_ends(s3_options: S3Options) -> None:
    async with open_storage(StorageOptions("", s3_options)) as storage, httpx.AsyncClient(trust_env=False) as client:
        await storage.put("k", of(b"content"))
        url = await storage.presign("k", 1)
        assert url is not None
        async with asyncio.timeout(30):
            while (await client.get(url)).status_code == 200:
                await asyncio.sleep(0.2)
        for seconds in (0, 8 * 24 * 3600):
            with pytest.raises(InvalidRequest, match="seconds"):
                await storage.presign("k", seconds)


async def test_addresses_are_those_under_which_others_reach_the_server(s3_options: S3Options) -> None:
    public = dataclasses.replace(s3_options, public_endpoint_url="https://files.example.com")
    async with open_storage(StorageOptions("", public)) as storage:
        await storage.put("k", of(b"content"))
        assert (await storage.presign("k", 60) or "").startswith(f"https://files.example.com/{public.bucket}/")


async def test_a_file_of_a_session_is_shared_once_as_long_as_it_stays_the_same(area: Folder, s3_options: S3Options) -> None:
    files = SessionFiles(area)
    await files.write("out/report.bin", b"first")
    async with open_storage(StorageOptions("", s3_options)) as storage, httpx.AsyncClient(trust_env=False) as client:
        one, again = [await presign_file(files, "out/report.bin", storage, "sessions/s1/shared") for _ in range(2)]
        assert one and again and one.key == again.key and one.size_bytes == 5
        assert (await client.get(again.url)).content == b"first"
        await files.write("out/report.bin", b"second")
        other = await presign_file(files, "out/report.bin", storage, "sessions/s1/shared")
        assert other and (await client.get(other.url)).content == b"second"
        assert len(await keys(storage, "sessions/s1/shared/")) == 2


async def test_a_local_storage_shares_nothing(area: Folder, tmp_path: Path) -> None:
    files = SessionFiles(area)
    await files.write("x", b"1")
    async with open_storage(StorageOptions(str(tmp_path / "storage"))) as storage:
        assert await presign_file(files, "x", storage, "shared") is None
        assert await keys(storage) == []
