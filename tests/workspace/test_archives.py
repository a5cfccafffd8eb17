"""Folders as archives and back, and archives that mean harm."""

from __future__ import annotations

import gzip
import io
import os
import stat
import subprocess
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspace.areas import Folder, area_in, descriptors, make_deep, make_special, meanwhile, swapping, tree

from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace.archives import ArchiveBounds, Format, UnpackResult, pack, unpack

BOUNDS = ArchiveBounds(max_members=100, max_bytes=64 * MIB)
FORMS = list(Format)


def packed(area: Folder, form: Format, name: str = "") -> bytes:
    return b"".join(pack(area, name, form))


def unpacked(area: Folder, archive: bytes, name: str = "", bounds: ArchiveBounds = BOUNDS) -> UnpackResult:
    return unpack(area, name, io.BytesIO(archive), bounds)


def tar(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT, mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def info(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, target, mode
    return made


def zipped(*members: tuple[str, bytes, int], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content, mode in members:
            made = zipfile.ZipInfo(name)
            made.external_attr = mode << 16
            made.compress_type = method
            archive.writestr(made, content)
    return out.getvalue()


def fill(area: Folder) -> None:
    (area.work / "p/q").mkdir(parents=True)
    (area.work / "p/q/data").write_bytes(os.urandom(600_000))
    (area.work / "p/run.sh").write_text("echo")
    (area.work / "p/run.sh").chmod(0o755)
    (area.work / "p/empty").mkdir()
    (area.work / "p/link").symlink_to("q/data")
    (area.work / ("p/" + "long" * 40)).write_text("long name")
    (area.work / "p/größe\n").write_text("ü")


@pytest.mark.parametrize("form", FORMS)
def test_what_is_packed_and_unpacked_is_the_same(area: Folder, tmp_path: Path, form: Format) -> None:
    fill(area)
    with area_in(tmp_path, "other") as other:
        done = unpacked(other, packed(area, form, "p"), "there")
        assert tree(other.work / "there") == tree(area.work / "p")
        assert (other.work / "there/run.sh").stat().st_mode & 0o777 == 0o755
        assert done == UnpackResult(5, 600_000 + 4 + 9 + 2)


def test_other_programs_read_the_archives(area: Folder) -> None:
    fill(area)
    with tarfile.open(fileobj=io.BytesIO(packed(area, Format.tar_gz, "p"))) as archive:
        assert archive.getmember("run.sh").mode == 0o755 and archive.getmember("link").linkname == "q/data"
        assert archive.getmember("größe\n").isfile()
    with zipfile.ZipFile(io.BytesIO(packed(area, Format.zip, "p"))) as found:
        assert found.testzip() is None and "q/data" in found.namelist() and "empty/" in found.namelist()


def test_archives_of_other_programs_are_unpacked(area: Folder) -> None:
    long = "n" * 90 + "/" + "m" * 120
    for number, form in enumerate((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT)):
        members = [(info("a", tarfile.DIRTYPE, mode=0o755), b""), (info("./a/x"), b"1")]
        members += [(info(long), b"2")] if form != tarfile.USTAR_FORMAT else []
        members += [(info("second", tarfile.LNKTYPE, "a/x"), b""), (info("soft", tarfile.SYMTYPE, "a/../a/x"), b"")]
        for mode in ("w", "w:gz"):
            unpacked(area, tar(*members, form=form, mode=mode), f"{number}{mode[1:]}")
    assert (area.work / "0/second").samefile(area.work / "0/a/x")
    assert (area.work / "1:gz" / long).read_bytes() == b"2"
    assert os.readlink(area.work / "2/soft") == "a/../a/x"


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_folder_makes_an_archive(area: Folder, form: Format) -> None:
    assert unpacked(area, packed(area, form), "x") == UnpackResult(0, 0)


@pytest.mark.parametrize("form", FORMS)
def test_what_no_archive_can_hold_is_left_out(area: Folder, tmp_path: Path, form: Format) -> None:
    make_special(area.work)
    (area.work / os.fsdecode(b"\xff")).write_text("1")
    (area.work / "x").write_text("2")
    archive = packed(area, form)
    if form is Format.zip:
        with zipfile.ZipFile(io.BytesIO(archive)) as found:
            assert sorted(found.namelist()) == ["nothing", "out", "root", "self", "up", "x", "�"]
    else:
        with tarfile.open(fileobj=io.BytesIO(archive), errors="surrogateescape") as archived:
            assert sorted(archived.getnames()) == ["nothing", "out", "root", "self", "up", "x", "\udcff"]


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_that_is_not_there_or_a_link_is_not_packed(area: Folder, form: Format) -> None:
    make_special(area.work)
    with pytest.raises(NotFound):
        packed(area, form, "no-such")
    for name in ("up", "root", "out", "fifo", ".."):
        with pytest.raises(InvalidRequest):
            packed(area, form, name)


@pytest.mark.parametrize("form", FORMS)
def test_packing_holds_a_piece_in_memory_and_not_the_file(area: Folder, form: Format) -> None:
    with open(area.work / "large", "wb") as file:
        for _ in range(64):
            file.write(os.urandom(MIB))
    tracemalloc.start()
    try:
        size = sum(len(piece) for piece in pack(area, "", form))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 64 * MIB and peak < 8 * MIB


@pytest.mark.parametrize("form", FORMS)
def test_packing_a_folder_that_is_swapped_never_packs_what_lies_outside(area: Folder, tmp_path: Path, form: Format) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_bytes(b"secret" * 100)
    act = swapping(area.work, tmp_path / "outside")
    with meanwhile(act):
        for _ in range(100):
            archive = packed(area, form)
            assert b"secret" not in (gzip.decompress(archive) if form is Format.tar_gz else archive)


@pytest.mark.parametrize("form", FORMS)
def test_packing_what_is_left_early_or_too_deep_leaves_no_descriptor(area: Folder, form: Format) -> None:
    fill(area)
    before = descriptors()
    started = pack(area, "", form)
    assert next(started)
    started.close()
    make_deep(area.work, 60)
    with pytest.raises(InvalidRequest, match="deep"):
        packed(area, form)
    assert descriptors() == before


Bad = Callable[[], bytes]
NAMES = ["../x", "a/../../x", "/etc/x", "a/..", "C:/x", "a\0/x"]
TARGETS = ["/etc/passwd", "../x", "a/../../x", "../../../../etc", ""]


@pytest.mark.parametrize("name", NAMES[:-1])
def test_names_that_lead_out_refuse_the_whole_archive(area: Folder, name: str) -> None:
    for archive in (tar((info("good"), b"1"), (info(name), b"2")), zipped(("good", b"1", 0o644), (name, b"2", 0o644))):
        with pytest.raises(InvalidRequest, match=r"names must be relative|must not hold"):
            unpacked(area, archive)
    assert tree(area.work) == {}


@pytest.mark.parametrize("target", TARGETS)
def test_links_that_lead_out_refuse_the_whole_archive(area: Folder, target: str) -> None:
    link = stat.S_IFLNK | 0o777
    archives = [tar((info("good"), b"1"), (info("link", tarfile.SYMTYPE, target), b"")), zipped(("link", target.encode(), link))]
    for archive in archives:
        with pytest.raises(InvalidRequest, match="leads out"):
            unpacked(area, archive)
    assert tree(area.work) == {}


@pytest.mark.parametrize("target", ["/etc/passwd", "../x", "no-such", "self", ""])
def test_second_names_of_what_is_not_in_the_archive_are_refused(area: Folder, target: str) -> None:
    with pytest.raises(InvalidRequest):
        unpacked(area, tar((info("self", tarfile.LNKTYPE, target), b"")))
    assert tree(area.work) == {}


def test_nothing_is_written_through_a_link_of_the_archive_or_of_a_guest(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (area.work / "guest").symlink_to(tmp_path / "outside")
    (area.work / "file").symlink_to(tmp_path / "outside/file")
    with pytest.raises(InvalidRequest, match="link"):
        unpacked(area, tar((info("guest/x"), b"1")))
    with pytest.raises(InvalidRequest, match="link"):
        unpacked(area, tar((info("d/e", tarfile.DIRTYPE), b""), (info("l", tarfile.SYMTYPE, "d"), b""), (info("l/e/x"), b"1")))
    unpacked(area, tar((info("file"), b"replaced")))
    assert os.listdir(tmp_path / "outside") == [] and (area.work / "file").read_bytes() == b"replaced"


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE])
def test_devices_and_fifos_refuse_the_whole_archive(area: Folder, kind: bytes) -> None:
    with pytest.raises(InvalidRequest, match="device, a FIFO"):
        unpacked(area, tar((info("good"), b"1"), (info("bad", kind), b"")))
    with pytest.raises(InvalidRequest, match="device, a FIFO"):
        unpacked(area, zipped(("bad", b"", stat.S_IFIFO | 0o644)))
    assert tree(area.work) == {}


def test_special_rights_are_dropped(area: Folder) -> None:
    unpacked(area, tar((info("x", mode=0o6755), b"1"), (info("d", tarfile.DIRTYPE, mode=0o1777), b"")))
    unpacked(area, zipped(("y", b"1", stat.S_IFREG | 0o4711)))
    assert [(area.work / name).stat().st_mode & 0o7777 for name in "xdy"] == [0o755, 0o777, 0o711]


def test_more_members_or_bytes_than_the_bounds_are_refused(area: Folder) -> None:
    many = [(info(str(number)), b"") for number in range(101)]
    for archive in (tar(*many), zipped(*((str(n), b"", 0o644) for n in range(101)))):
        with pytest.raises(InvalidRequest, match="more than the 100 members"):
            unpacked(area, archive)
    block = os.urandom(MIB)
    for archive in (tar((info("a"), block), (info("b"), block)), zipped(("a", block, 0), ("b", block, 0))):
        with pytest.raises(InvalidRequest, match="more than the 1500000 bytes"):
            unpacked(area, archive, bounds=ArchiveBounds(max_bytes=1_500_000))
    assert tree(area.work) == {}


def bomb_of_zeros() -> bytes:
    return tar((info("zeros"), bytes(40 * MIB)))


def bomb_in_a_zip() -> bytes:
    return zipped(("zeros", bytes(40 * MIB), 0o644))


def bomb_of_an_extended_header() -> bytes:
    """The library would read all of it into memory."""
    header = info("h", tarfile.XHDTYPE)
    header.size = 60 * MIB
    return gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + bytes(60 * MIB))


def bomb_of_headers() -> bytes:
    member = info("", tarfile.XGLTYPE)
    return gzip.compress(member.tobuf(tarfile.USTAR_FORMAT) * 100_000)


def bomb_of_a_directory() -> bytes:
    return zipped(*((f"{number:040}", b"", 0o644) for number in range(50_000)), method=zipfile.ZIP_STORED)


@pytest.mark.parametrize(
    "bomb",
    [bomb_of_zeros, bomb_in_a_zip, bomb_of_an_extended_header, bomb_of_headers, bomb_of_a_directory],
    ids=lambda f: f.__name__,
)
def test_bombs_are_refused_without_taking_memory(area: Folder, bomb: Bad) -> None:
    archive = io.BytesIO(bomb())
    tracemalloc.start()
    try:
        with pytest.raises(InvalidRequest):
            unpack(area, "", archive, ArchiveBounds(max_members=100, max_bytes=64 * MIB, max_ratio=50))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * MIB and tree(area.work) == {}


def lying_zip() -> bytes:
    """Says that its member has one byte; it has a million."""
    made = bytearray(zipped(("x", bytes(1_000_000), 0o644)))
    directory = made.rindex(b"PK\x01\x02")
    made[directory + 24 : directory + 28] = (1).to_bytes(4, "little")
    return bytes(made)


def test_a_zip_that_lies_about_sizes_writes_no_more_than_it_told(area: Folder) -> None:
    with pytest.raises(InvalidRequest, match="damaged"):
        unpacked(area, lying_zip())
    assert tree(area.work) == {}


GOOD = tar((info("x"), os.urandom(2000)), mode="w")
DAMAGED = {
    "nothing": b"",
    "text": b"this is no archive at all" * 100,
    "zeros": bytes(10) + b"x" * 600,
    "cut": GOOD[:1500],
    "cut header": GOOD[:100],
    "bad checksum": b"y" + GOOD[1:],
    "cut gzip": gzip.compress(GOOD)[:-100],
    "gzip of text": gzip.compress(b"text" * 1000),
    "broken gzip": gzip.compress(GOOD)[:50] + b"\xff" * 500,
    "zip magic": b"PK\x03\x04" + b"x" * 500,
    "negative size": b"",
    "endless extension": info("h", tarfile.XHDTYPE).tobuf(tarfile.USTAR_FORMAT),
}
_NEGATIVE = bytearray(GOOD)
_NEGATIVE[124:136] = b"\xff" * 12
_NEGATIVE[148:156] = b"        "
_NEGATIVE[148:156] = b"%06o\0 " % sum(_NEGATIVE[:512])
DAMAGED["negative size"] = bytes(_NEGATIVE)


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_told_so(area: Folder, name: str) -> None:
    before = descriptors()
    with pytest.raises(InvalidRequest):
        unpacked(area, DAMAGED[name])
    assert descriptors() == before and tree(area.work) == {}


def test_an_extended_header_that_makes_no_sense_is_refused(area: Folder) -> None:
    for text in (b"0 path=x\n", b"999999 path=x\n", b"path=x\n", b"-5 a=b\n", b"3 x", b"12 path\n     "):
        header = info("h", tarfile.XHDTYPE)
        header.size = len(text)
        body = header.tobuf(tarfile.USTAR_FORMAT) + text.ljust(512, b"\0")
        with pytest.raises(InvalidRequest):
            unpacked(area, body + info("x").tobuf(tarfile.USTAR_FORMAT) + bytes(1024))


def test_more_headers_in_front_of_a_member_than_any_program_writes_are_refused(area: Folder) -> None:
    headers = info("", tarfile.XGLTYPE).tobuf(tarfile.USTAR_FORMAT) * 9
    with pytest.raises(InvalidRequest, match="too many headers"):
        unpacked(area, headers + info("x").tobuf(tarfile.USTAR_FORMAT) + bytes(1024))


def test_other_compressions_and_encryption_are_refused_with_advice(area: Folder) -> None:
    with pytest.raises(InvalidRequest, match="other than deflate"):
        unpacked(area, zipped(("x", b"1" * 1000, 0o644), method=zipfile.ZIP_BZIP2))
    made = bytearray(zipped(("x", b"1", 0o644)))
    made[made.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(InvalidRequest, match="password"):
        unpacked(area, bytes(made))


def test_a_folder_in_the_way_of_a_file_is_refused_and_files_are_replaced(area: Folder) -> None:
    (area.work / "folder").mkdir()
    os.mkfifo(area.work / "fifo")
    with pytest.raises(InvalidRequest, match="names a folder"):
        unpacked(area, tar((info("folder"), b"1")))
    unpacked(area, tar((info("fifo"), b"1"), (info("fifo"), b"2")))
    assert (area.work / "fifo").read_bytes() == b"2"


def test_unpacking_into_a_folder_that_is_swapped_never_writes_outside(area: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    archive = tar(*((info(f"swap/d{n}/x"), b"1") for n in range(20)))
    act = swapping(area.work, tmp_path / "outside")
    with meanwhile(act):
        for _ in range(50):
            try:
                unpacked(area, archive)
            except Exception as error:
                assert not isinstance(error, OSError)
    assert os.listdir(tmp_path / "outside") == []


def make_sparse(path: Path, size: int, *data: tuple[int, bytes]) -> None:
    with path.open("wb") as file:
        file.truncate(size)
        for offset, content in data:
            file.seek(offset)
            file.write(content)


def test_a_tar_file_keeps_holes(area: Folder, tmp_path: Path) -> None:
    make_sparse(area.work / "sparse", 250 * MIB, (0, b"first"), (100 * MIB, b"middle"))
    make_sparse(area.work / "hole", 5 * MIB)
    archive = packed(area, Format.tar_gz)
    assert len(gzip.decompress(archive)) < MIB
    with area_in(tmp_path, "other") as other:
        unpacked(other, archive, bounds=ArchiveBounds(max_bytes=256 * MIB))
    for name in ("sparse", "hole"):
        copy, original = (other.work / name).stat(), (area.work / name).stat()
        assert (copy.st_size, copy.st_blocks) == (original.st_size, original.st_blocks)
    with (other.work / "sparse").open("rb") as file:
        assert file.read(6) == b"first\0"
        file.seek(100 * MIB)
        assert file.read(7) == b"middle\0"


def test_other_readers_understand_holes(area: Folder, tmp_path: Path) -> None:
    make_sparse(area.work / "sparse", 5 * MIB, (MIB, b"middle"))
    (area.work / "plain").write_text("plain")
    (tmp_path / "a.tar.gz").write_bytes(packed(area, Format.tar_gz))
    with tarfile.open(tmp_path / "a.tar.gz") as archive:
        found = archive.extractfile("sparse")
        assert found is not None and found.read() == (area.work / "sparse").read_bytes()
        assert sorted(archive.getnames()) == ["plain", "sparse"]
    (tmp_path / "out").mkdir()
    subprocess.run(["tar", "-xzf", tmp_path / "a.tar.gz", "-C", tmp_path / "out"], check=True)
    assert tree(tmp_path / "out") == tree(area.work)


@pytest.mark.parametrize(
    "text",
    [b"", b"x\n", b"1\n5\n", b"2\n0\n512\n0\n512\n", b"1\n0\n99999999\n", b"99999999\n", b"1\n-1\n5\n", b"1\n0\n" + b"1" * 600],
)
def test_a_map_of_holes_that_makes_no_sense_is_refused(area: Folder, text: bytes) -> None:
    made = info("GNUSparseFile.0/x")
    told = {"major": "1", "minor": "0", "name": "x", "realsize": "4096"}
    made.pax_headers = {f"GNU.sparse.{key}": value for key, value in told.items()}
    with pytest.raises(InvalidRequest, match="damaged"):
        unpacked(area, tar((made, text + bytes(-len(text) % 512) + bytes(512))))
    assert tree(area.work) == {}


def test_a_zip_file_larger_with_its_zeros_than_the_disk_is_refused(area: Folder) -> None:
    for number in range(3):
        make_sparse(area.work / f"sparse{number}", 2**42)
    with pytest.raises(InvalidRequest, match=r"with their holes.*tar\.gz"):
        next(pack(area, "", Format.zip))
    assert len(packed(area, Format.tar_gz)) < 4096


def test_an_upload_cannot_make_a_file_larger_than_may_be_unpacked(area: Folder, tmp_path: Path) -> None:
    make_sparse(area.work / "sparse", 2**40)
    with area_in(tmp_path, "other") as other, pytest.raises(InvalidRequest, match="larger than"):
        unpacked(other, packed(area, Format.tar_gz))
