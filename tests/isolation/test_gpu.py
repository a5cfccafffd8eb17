"""GPUs: in boxes whose policy says so, and in no other."""

from __future__ import annotations

import pytest
from tests.isolation.box_helpers import open_box, shell

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation import rootfs
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Policy

pytestmark = pytest.mark.asyncio(loop_scope="session")
LOOK = "ls /dev | grep -E 'nvidia|dri'; true"


async def test_a_box_sees_them_only_where_its_policy_says_so(backend: Backend) -> None:
    if backend.name == "none":
        pytest.skip("without isolation a program sees what the machine has")
    async with open_box(backend) as box:
        assert (await box.run(shell(LOOK))).stdout.text == ""
    if not rootfs.gpu_devices():
        pytest.skip("this machine has no GPU to show")
    async with open_box(backend, Policy(gpu=True)) as box:
        assert (await box.run(shell(LOOK))).stdout.text != ""


async def test_where_there_is_none_that_is_told(backend: Backend) -> None:
    if rootfs.gpu_devices() or backend.name == "none":
        pytest.skip("this machine has a GPU, or the backend shows what there is")
    with pytest.raises(Unavailable, match="no GPU"):
        await backend.open(Policy(gpu=True))
