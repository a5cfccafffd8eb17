"""The folder of toolchains: seen by boxes whose policy says so, written to by none."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import open_box, shell

from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Policy


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("toolchains")
    for path in (made, *made.parents[:2]):
        path.chmod(0o755)
    (made / "tool").write_text("#!/bin/sh\necho compiled\n")
    (made / "tool").chmod(0o755)
    return made


@pytest_asyncio.fixture(params=["namespaces", "bubblewrap"])
async def equipped(request: pytest.FixtureRequest, options: BackendOptions, folder: Path) -> AsyncIterator[Backend]:
    skip_where_the_host_lacks(request.param)
    async with open_backend(request.param, dataclasses.replace(options, toolchains_dir=str(folder))) as backend:
        yield backend


@pytest.mark.parametrize("single_use", [False, True])
async def test_a_box_whose_policy_says_so_sees_and_starts_toolchains_but_cannot_change_them(
    equipped: Backend, folder: Path, single_use: bool
) -> None:
    async with open_box(equipped, Policy(toolchains=True, single_use=single_use)) as box:
        outcome = await box.run(shell(f"{folder}/tool; echo bad > {folder}/tool; rm {folder}/tool; touch {folder}/other"))
    assert outcome.stdout.text == "compiled\n"
    assert outcome.stderr.text.count("Read-only file system") == 3
    assert [path.name for path in folder.iterdir()] == ["tool"]


async def test_a_box_whose_policy_does_not_say_so_sees_nothing_of_them(equipped: Backend, folder: Path) -> None:
    async with open_box(equipped, Policy()) as box:
        outcome = await box.run(shell(f"ls {folder}"))
    assert outcome.stdout.text == ""


async def test_where_there_is_no_such_folder_boxes_are_made_all_the_same(options: BackendOptions, folder: Path) -> None:
    missing = dataclasses.replace(options, toolchains_dir=str(folder / "missing"))
    async with open_backend("namespaces", missing) as backend, open_box(backend, Policy(toolchains=True)) as box:
        assert (await box.run(shell("echo made"))).stdout.text == "made\n"
