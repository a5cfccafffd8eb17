"""Checks that passed are remembered from one start to the next, and only while what they depended on is the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.languages.language_file import GOOD

from sandbox_runtime.assembly import open_platform
from sandbox_runtime.engine import CheckCache, LanguageStatus
from sandbox_runtime.languages import Language
from sandbox_runtime.languages.reader import read_language
from sandbox_runtime.settings import Settings

ROW = GOOD.replace('stdout = "x"', 'stdout = "x\\n"')
PROOF = LanguageStatus("awk", True, ("-lm",), version="awk 5")


def awk(row: str = ROW) -> Language:
    return read_language(row, "awk.toml")


def remembered(folder: Path, host: str = "namespaces 1") -> CheckCache:
    return CheckCache(str(folder), sys.executable, host)


def test_what_passed_is_known_after_the_next_start(tmp_path: Path) -> None:
    remembered(tmp_path).save(awk(), PROOF)
    found = remembered(tmp_path).load(awk())
    assert found is not None and (found.enabled, found.link_flags, found.version) == (True, ("-lm",), "awk 5")


def test_a_changed_row_or_host_is_checked_again(tmp_path: Path) -> None:
    remembered(tmp_path).save(awk(), PROOF)
    assert remembered(tmp_path).load(awk(ROW.replace('"x"', '"y"'))) is None
    assert remembered(tmp_path, "bubblewrap 1").load(awk()) is None


def test_a_replaced_program_is_checked_again(tmp_path: Path) -> None:
    program = tmp_path / "awk"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    row = awk(ROW.replace('argv = ["awk"', f'argv = ["{program}"'))
    remembered(tmp_path).save(row, PROOF)
    assert remembered(tmp_path).load(row) is not None
    program.write_text("#!/bin/sh\nexec other\n")
    assert remembered(tmp_path).load(row) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 1}', "\x00"])
def test_a_damaged_memory_is_none(tmp_path: Path, content: str) -> None:
    remembered(tmp_path).save(awk(), PROOF)
    (place,) = (tmp_path / ".proofs").iterdir()
    place.write_text(content)
    assert remembered(tmp_path).load(awk()) is None


def test_a_folder_that_cannot_be_written_costs_only_the_memory(tmp_path: Path) -> None:
    (tmp_path / ".proofs").write_text("in the way")
    remembered(tmp_path).save(awk(), PROOF)
    assert remembered(tmp_path).load(awk()) is None


async def test_a_check_is_not_run_again_after_a_restart_unless_that_is_asked_for(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path / "state"), toolchains_dir=str(tmp_path / "toolchains"), log_level="error")
    counts = []
    for fresh in (False, False, True):
        async with open_platform(settings, prewarm=False) as platform:
            (proof,) = await platform.engine.languages(["bash"], fresh=fresh)
            assert proof.enabled and "GNU bash" in proof.version
            counts.append(b'language="bash"' in platform.metrics.exposition())
    assert counts == [True, False, True]


async def test_a_language_that_stopped_working_is_forgotten(tmp_path: Path) -> None:
    program = tmp_path / "toolchains" / "awk"
    program.parent.mkdir()
    (tmp_path / "rows").mkdir()
    row = ROW.replace('"awk", "-f", "{source}"', '"/bin/sh", "{toolchains}/awk"')
    row = row.replace('name = "awk"', 'name = "own"').replace("gawk", "ours").replace('extensions = ["awk"]', "")
    (tmp_path / "rows" / "own.toml").write_text(row)
    settings = Settings(
        state_dir=str(tmp_path / "state"),
        toolchains_dir=str(tmp_path / "toolchains"),
        languages_dir=str(tmp_path / "rows"),
        log_level="error",
    )
    enabled = []
    for content in ("cat; echo", "exit 1"):
        program.write_text(content)
        async with open_platform(settings, prewarm=False) as platform:
            enabled += [proof.enabled for proof in await platform.engine.languages(["own"])]
    assert enabled == [True, False]
    assert not (tmp_path / "toolchains" / ".proofs" / "own.json").exists()
