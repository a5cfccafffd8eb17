"""A guest interpreter that is upgraded under a running server: new boxes have the new one, whole; old boxes go on."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import command, open_box, put_file, run_python

from sandbox_runtime.assembly import open_platform
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Job, Policy
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOOK_S = 0.05
WITHIN_S = 60.0
TELL = "import release\nprint(release.NUMBER, open(release.__file__).read().split()[-1])\n"


@dataclass(frozen=True)
class Copy:
    """An interpreter to upgrade, with a module that prints its release."""

    python: Path
    site: Path

    def release(self, number: int) -> None:
        (self.site / "release.py").write_text(f"NUMBER = {number}\n")

    def upgrade(self, number: int) -> None:
        """As package managers do it: new files take the place of the old ones."""
        self.release(number)
        shutil.rmtree(self.site / "__pycache__", ignore_errors=True)
        fresh = self.python.with_name("python.new")
        shutil.copy2(self.python.resolve(), fresh)
        os.utime(fresh)
        os.replace(fresh, self.python)


@pytest.fixture
def copy(guest_python: str, tmp_path: Path) -> Copy:
    skip_where_the_host_lacks("namespaces")
    folder = tmp_path / "guest"
    subprocess.run([guest_python, "-m", "venv", "--copies", "--without-pip", str(folder)], check=True, timeout=60)
    os.chmod(tmp_path, 0o755)
    site = next((folder / "lib").glob("python3.*")) / "site-packages"
    made = Copy(folder / "bin" / "python", site)
    made.release(1)
    return made


@pytest_asyncio.fixture(loop_scope="module")
async def backend(copy: Copy, tmp_path: Path) -> AsyncIterator[Backend]:
    options = BackendOptions(
        str(copy.python), str(tmp_path / "state"), presets={"std": Preset(("release",))}, guest_check_s=LOOK_S
    )
    async with open_backend("namespaces", options) as open_box:
        yield open_box


async def told(backend: Backend, python: str) -> str:
    outcome = await run_python(backend, python, TELL, wall_s=60)
    assert outcome.ok, outcome.stderr.text
    return outcome.stdout.text


async def test_boxes_after_an_upgrade_have_the_new_interpreter(backend: Backend, copy: Copy) -> None:
    assert await told(backend, str(copy.python)) == "1 1\n"
    copy.upgrade(2)
    async with asyncio.timeout(WITHIN_S):
        while await told(backend, str(copy.python)) != "2 2\n":
            await asyncio.sleep(LOOK_S)


async def test_a_box_that_was_open_goes_on(backend: Backend, copy: Copy) -> None:
    async with open_box(backend) as box:
        put_file(box, "main.py", b"print(open('kept').read())")
        put_file(box, "kept", b"still here")
        copy.upgrade(2)
        async with asyncio.timeout(WITHIN_S):
            while not box.outdated:
                await asyncio.sleep(LOOK_S)
        assert await told(backend, str(copy.python)) == "2 2\n"
        outcome = await box.run(command(str(copy.python), "main.py", wall_s=60))
        assert outcome.stdout.text == "still here\n"


async def test_a_server_hands_out_no_box_of_the_time_before(copy: Copy, tmp_path: Path) -> None:
    settings = Settings(
        state_dir=str(tmp_path / "state"),
        guest_python=str(copy.python),
        preset=("release",),
        guest_check_s=LOOK_S,
        check_languages=False,
        log_level="error",
    )
    async with open_platform(settings) as platform:

        async def said() -> str:
            done = (await platform.engine.run(Job("python", TELL))).run
            assert done is not None and done.ok, done
            return done.stdout.text

        assert await said() == "1 1\n"
        probe = await platform.backend.open(Policy(preset="custom"))
        try:
            copy.upgrade(2)
            async with asyncio.timeout(WITHIN_S):
                while not probe.outdated:
                    await asyncio.sleep(LOOK_S)
        finally:
            await probe.close()
        assert [await said() for _ in range(5)] == ["2 2\n"] * 5
