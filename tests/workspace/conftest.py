from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.workspace.areas import Folder, area_in

from sandbox_runtime.workspace import S3Options, SessionFiles, Storage, StorageOptions, open_storage

SCRIPT = Path(__file__).parents[2] / "scripts" / "services" / "seaweedfs.sh"
NOT_INSTALLED = 3


@pytest.fixture
def area(tmp_path: Path) -> Iterator[Folder]:
    with area_in(tmp_path) as made:
        yield made


@pytest.fixture
def files(area: Folder, tmp_path: Path) -> SessionFiles:
    return SessionFiles(area, spool_dir=str(tmp_path))


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    """Of a real server that speaks S3; it ends with the tests."""
    folder = tempfile.mkdtemp(prefix="s3-")
    try:
        yield _started(folder)
    finally:
        subprocess.run([str(SCRIPT), "stop", folder], check=True, timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: str) -> str:
    """It takes several ports beside the one it is given: where another has one of them, it is tried with others."""
    told = ""
    for _ in range(5):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        # Output goes to a file: a pipe would stay open as long as the server.
        with tempfile.TemporaryFile("w+") as out:
            ended = subprocess.run([str(SCRIPT), "start", folder, str(port)], stdout=out, stderr=subprocess.STDOUT, timeout=100)
            out.seek(0)
            told = out.read().strip()
        if ended.returncode == NOT_INSTALLED:
            pytest.skip(told)
        if ended.returncode == 0:
            return told
        subprocess.run([str(SCRIPT), "stop", folder], check=True, timeout=60)
    raise AssertionError(told)


@pytest.fixture
def s3_options(s3_url: str, tmp_path: Path) -> S3Options:
    """Each test has a part of the bucket for itself."""
    return S3Options(
        bucket="sandbox-workspace",
        access_key_id="sandbox",
        secret_access_key="sandbox-test",
        endpoint_url=s3_url,
        prefix=tmp_path.name,
    )


@pytest_asyncio.fixture(params=["local", "s3"])
async def storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Storage]:
    s3 = request.getfixturevalue("s3_options") if request.param == "s3" else None
    async with open_storage(StorageOptions(str(tmp_path / "storage"), s3)) as opened:
        yield opened
