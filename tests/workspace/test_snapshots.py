"""Areas kept in a storage and brought back, on a folder and on a real server that speaks S3."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.workspace.areas import Folder, area_in, descriptors, make_special, tree

from sandbox_runtime.errors import Conflict, PlatformFault, Unavailable
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace import Snapshots, Storage, StorageOptions, open_storage
from sandbox_runtime.workspace.snapshots import manifest as manifests
from sandbox_runtime.workspace.snapshots.diff import wasteful_objects
from sandbox_runtime.workspace.snapshots.manifest import Manifest, SnapshotEntry, SnapshotEntryKind
from sandbox_runtime.workspace.snapshots.pack import ObjectPacker
from sandbox_runtime.workspace.snapshots.scan import scan_area
from sandbox_runtime.workspace.storage import read_all

FOLDERS = ("/work", "/tmp")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Folder]:
    with area_in(tmp_path, "other") as made:
        yield made


def of(storage: Storage, name: str = "s1") -> Snapshots:
    return Snapshots(storage, f"sessions/{name}", FOLDERS)


async def once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def objects(storage: Storage) -> list[str]:
    return [stored.key for stored in await storage.list("sessions/s1/objects/")]


def fill(area: Folder) -> None:
    (area.work / "a/b").mkdir(parents=True)
    (area.work / "a/b/large").write_bytes(os.urandom(5 * MIB))
    for number in range(50):
        (area.work / f"a/{number}").write_bytes(os.urandom(number * 100))
    (area.work / "a/run").write_text("#!")
    (area.work / "a/run").chmod(0o750)
    (area.work / "a" / os.fsdecode(b"\xff\n")).write_text("any bytes")
    (area.work / "a/link").symlink_to("/work/a/b/large")
    (area.work / "empty").mkdir(mode=0o711)
    os.link(area.work / "a/run", area.work / "second")
    (area.path / "temporary/t").write_text("t")


async def test_what_was_saved_comes_back(area: Folder, other: Folder, storage: Storage) -> None:
    fill(area)
    os.utime(area.work / "a/run", (111, 111))
    os.utime(area.work / "a", (222, 222))
    saved = await of(storage).save(area)
    assert saved.changed and saved.stored_files == 54
    restored = await of(storage).restore(other)
    assert restored and restored.entries == saved.entries
    assert tree(other.path) == tree(area.path)
    assert (other.work / "second").samefile(other.work / "a/run")
    assert [(other.work / name).stat().st_mode & 0o777 for name in ("a/run", "empty")] == [0o750, 0o711]
    assert [(other.work / name).stat().st_mtime for name in ("a/run", "a")] == [111, 222]


async def test_only_what_has_changed_is_stored_again(area: Folder, other: Folder, storage: Storage) -> None:
    fill(area)
    snapshots = of(storage)
    await snapshots.save(area)
    same = await snapshots.save(area)
    assert (same.changed, same.stored_files) == (False, 0)
    (area.work / "a/5").write_text("changed")
    (area.work / "new").write_text("new")
    (area.work / "a/6").unlink()
    some = await snapshots.save(area)
    assert (some.changed, some.stored_files, some.stored_bytes) == (True, 2, 10)
    await of(storage).restore(other)
    assert tree(other.path) == tree(area.path)


async def test_a_change_of_the_same_size_right_after_a_save_is_seen(area: Folder, other: Folder, storage: Storage) -> None:
    snapshots = of(storage)
    for number in range(10):
        (area.work / "x").write_text(str(number))
        os.utime(area.work / "x", (1, 1))
        assert (await snapshots.save(area)).stored_files == 1
    await of(storage).restore(other)
    assert (other.work / "x").read_text() == "9"


async def test_a_new_time_or_mode_needs_no_bytes(area: Folder, other: Folder, storage: Storage) -> None:
    fill(area)
    snapshots = of(storage)
    await snapshots.save(area)
    os.utime(area.work / "a/b/large", (5, 5))
    (area.work / "a/1").chmod(0o600)
    saved = await snapshots.save(area)
    assert (saved.changed, saved.stored_files) == (True, 0)
    await of(storage).restore(other)
    assert (other.work / "a/b/large").stat().st_mtime == 5 and (other.work / "a/1").stat().st_mode & 0o777 == 0o600


async def test_a_restored_area_goes_on_with_what_is_stored(area: Folder, other: Folder, storage: Storage) -> None:
    fill(area)
    await of(storage).save(area)
    snapshots = of(storage)
    await snapshots.restore(other)
    (other.work / "more").write_text("more")
    saved = await snapshots.save(other)
    assert (saved.stored_files, saved.stored_bytes) == (1, 4)


async def test_nothing_saved_is_nothing_restored(other: Folder, storage: Storage) -> None:
    assert await of(storage).restore(other) is None


async def test_an_empty_area_is_saved_as_such(area: Folder, other: Folder, storage: Storage) -> None:
    (area.work / "empty").touch()
    snapshots = of(storage)
    await snapshots.save(area)
    (area.work / "empty").unlink()
    await snapshots.save(area)
    restored = await of(storage).restore(other)
    assert restored and restored.entries == 0 and await objects(storage) == []


async def test_objects_that_nothing_names_any_more_are_dropped(area: Folder, storage: Storage) -> None:
    snapshots = of(storage)
    for number in range(5):
        (area.work / "large").write_bytes(bytes([number]) * 5 * MIB)
        await snapshots.save(area)
        assert len(await objects(storage)) == 1
    await snapshots.delete()
    assert await storage.list("") == [] or await storage.list("") == ()


async def test_many_small_saves_do_not_become_many_objects(area: Folder, other: Folder, tmp_path: Path) -> None:
    async with open_storage(StorageOptions(str(tmp_path / "storage"))) as storage:
        snapshots = of(storage)
        for number in range(80):
            (area.work / str(number)).write_text("x" * number)
            await snapshots.save(area)
        assert len(await objects(storage)) < 40
        await of(storage).restore(other)
    assert tree(other.work) == tree(area.work)


async def test_links_are_kept_and_never_followed_and_special_files_left_out(
    area: Folder, other: Folder, storage: Storage, tmp_path: Path
) -> None:
    make_special(area.work)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    (area.work / "folder").symlink_to(tmp_path / "outside")
    await of(storage).save(area)
    await of(storage).restore(other)
    assert sorted(os.listdir(other.work)) == ["folder", "nothing", "out", "root", "self", "up"]


async def test_what_a_killed_server_had_begun_to_store_is_dropped_by_the_next(
    area: Folder, other: Folder, storage: Storage
) -> None:
    async def piece() -> AsyncIterable[bytes]:
        yield b"half"

    (area.work / "x").write_text("1")
    await of(storage).save(area)
    await storage.put("sessions/s1/objects/orphan", piece())  # type: ignore[arg-type]
    await of(storage).restore(other)
    assert "sessions/s1/objects/orphan" not in await objects(storage) and len(await objects(storage)) == 1


class Failing:
    """A storage that refuses to take the manifest."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.get, self.list, self.delete = storage.get, storage.list, storage.delete

    async def put(self, key: str, source: AsyncIterable[bytes]) -> int:
        if key.endswith("/manifest"):
            raise Unavailable("the storage is full")
        return await self._storage.put(key, source)


async def test_a_save_that_fails_leaves_the_one_before_and_no_rest(area: Folder, other: Folder, storage: Storage) -> None:
    (area.work / "x").write_text("before")
    await of(storage).save(area)
    kept = await objects(storage)
    (area.work / "x").write_text("after!")
    (area.work / "y").write_text("new")
    with pytest.raises(Unavailable, match="full"):
        await of(Failing(storage)).save(area)  # type: ignore[arg-type]
    assert await objects(storage) == kept
    await of(storage).restore(other)
    assert tree(other.work) == {"x": b"before"}


async def test_damage_is_told_and_never_restored_as_if_it_were_right(area: Folder, tmp_path: Path) -> None:
    (area.work / "x").write_text("precious")
    async with open_storage(StorageOptions(str(tmp_path / "storage"))) as storage:
        await of(storage).save(area)
        before = descriptors()
        folder = tmp_path / "storage/sessions/s1"
        (stored,) = (folder / "objects").iterdir()
        for content in (b"Precious", b"prec", b""):
            stored.write_bytes(content)
            with area_in(tmp_path, f"area{len(content)}") as target, pytest.raises(PlatformFault, match="damaged"):
                await of(storage).restore(target)
        stored.unlink()
        with area_in(tmp_path, "missing") as target, pytest.raises(PlatformFault, match="missing"):
            await of(storage).restore(target)
        (folder / "manifest").write_bytes((folder / "manifest").read_bytes().replace(b'"x"', b'"y"').replace(b"/x", b"/y"))
        with area_in(tmp_path, "manifest") as target, pytest.raises(PlatformFault, match="manifest"):
            await of(storage).restore(target)
        assert descriptors() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
async def test_what_is_restored_belongs_to_the_user_of_its_box(area: Folder, other: Folder, storage: Storage) -> None:
    fill(area)
    os.chown(other.work, 4711, 4712)
    await of(storage).save(area)
    await of(storage).restore(other)
    assert {(path.lstat().st_uid, path.lstat().st_gid) for path in other.work.rglob("*")} == {(4711, 4712)}


def test_a_manifest_is_read_as_it_was_written() -> None:
    entries = (
        SnapshotEntry("/work/\udcff\n", SnapshotEntryKind.file, 0o644, 5, size_bytes=3, sha256="00", object="o", offset=7),
        SnapshotEntry("/work/l", SnapshotEntryKind.link, target="\udcfe"),
    )
    made = Manifest(entries, {"o": 10})
    assert manifests.read(manifests.write(made)) == made
    for broken in (b"", b"x\n{}", manifests.write(made)[:-1], manifests.write(made) + b" "):
        with pytest.raises(PlatformFault):
            manifests.read(broken)


def test_objects_of_which_little_is_used_are_stored_anew() -> None:
    used = SnapshotEntry("/work/x", SnapshotEntryKind.file, size_bytes=MIB, object="mostly-dead")
    fine = SnapshotEntry("/work/y", SnapshotEntryKind.file, size_bytes=MIB, object="alive")
    assert wasteful_objects(Manifest((used, fine), {"mostly-dead": 10 * MIB, "alive": 2 * MIB})) == {"mostly-dead"}


def make_sparse(path: Path, size: int, *data: tuple[int, bytes]) -> None:
    with path.open("wb") as file:
        file.truncate(size)
        for offset, content in data:
            file.seek(offset)
            file.write(content)


def real_bytes(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


async def test_holes_take_no_room_in_the_storage(area: Folder, other: Folder, tmp_path: Path) -> None:
    for number in range(8):
        make_sparse(area.work / f"sparse{number}", 250 * MIB, (100 * MIB, b"middle"))
    make_sparse(area.work / "hole", 3 * MIB)
    async with open_storage(StorageOptions(folder=str(tmp_path / "kept"))) as kept:
        saved = await of(kept).save(area)
        assert saved.stored_bytes < MIB and real_bytes(tmp_path / "kept") < MIB
        await of(kept).restore(other)
    assert real_bytes(other.path) < MIB
    assert (other.work / "sparse3").stat().st_size == 250 * MIB
    with (other.work / "sparse3").open("rb") as file:
        file.seek(100 * MIB - 2)
        assert file.read(10) == b"\0\0middle\0\0"
    assert (other.work / "hole").read_bytes() == bytes(3 * MIB)


async def test_a_sparse_file_that_has_not_changed_is_not_stored_again(area: Folder, other: Folder, storage: Storage) -> None:
    make_sparse(area.work / "x", 64 * MIB, (MIB, b"data"))
    snapshots = of(storage)
    assert (await snapshots.save(area)).stored_files == 1
    assert (await snapshots.save(area)).stored_files == 0
    with (area.work / "x").open("r+b") as file:
        file.seek(9 * MIB)
        file.write(b"more")
    assert (await snapshots.save(area)).stored_files == 1
    await of(storage).restore(other)
    assert (other.work / "x").read_bytes() == (area.work / "x").read_bytes()


async def test_a_snapshot_of_the_first_version_is_still_read(area: Folder, other: Folder, storage: Storage) -> None:
    fill(area)
    await of(storage).save(area)
    text = await read_all(storage, "sessions/s1/manifest", MIB)
    body = text.partition(b"\n")[2].replace(b'{"version":2', b'{"version":1', 1)
    await storage.put("sessions/s1/manifest", once(hashlib.sha256(body).hexdigest().encode() + b"\n" + body))
    await of(storage).restore(other)
    assert tree(other.path) == tree(area.path)


async def test_data_that_moves_in_front_of_the_reader_is_stored_up_to_the_disk_limit(area: Folder) -> None:
    for number in range(4):
        (area.work / str(number)).write_bytes(b"x" * 100)
    packing = ObjectPacker(area, "o", scan_area(area, FOLDERS, 100), max_bytes=250)
    with pytest.raises(Conflict, match="more than its disk limit"):
        list(packing.chunks())
