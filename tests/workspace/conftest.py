from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.workspace.areas import Folder, area_in


@pytest.fixture
def area(tmp_path: Path) -> Iterator[Folder]:
    with area_in(tmp_path) as made:
        yield made
