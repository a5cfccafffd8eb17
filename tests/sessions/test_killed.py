"""A server that is killed while it works."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.perf.crash import kill_often
from sandbox_runtime.settings import Settings


@pytest.mark.slow
async def test_kill_minus_9_under_load_loses_no_acknowledged_result_and_leaves_nothing(tmp_path: Path) -> None:
    skip_where_the_host_lacks("namespaces")
    found = await kill_often(Settings(state_dir=str(tmp_path / "state"), node_name="killed"), kills=4)
    assert found.acknowledged > 0
    assert (found.lost, found.wrong, found.forgotten, found.untrue) == (0, 0, 0, 0)
    assert not any(found.left.values()), found.left
