"""POST /run_jupyter."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from tests.api.servers import Client, b64, serving
from tests.engine.notebooks import skip_where_memory_is_not_counted

from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def run_jupyter(client: Client, *cells: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/run_jupyter", json={"cells": list(cells), **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.requirement("fusion-1.05", "fusion-2.17", "fusion-2.18")
async def test_the_fields_are_those_of_the_contract_and_ours_beside_them(client: Client) -> None:
    answer = await run_jupyter(client, "print('a')\n1 + 1")
    contract = {"status", "message", "driver", "cells", "executor_pod_name", "files"}
    assert set(answer) - contract == {"skipped_files", "partial_cells"}
    assert (answer["status"], answer["message"], answer["executor_pod_name"]) == ("Success", "", "pod-7")
    assert answer["cells"] == [{"stdout": "a\n", "stderr": "", "display": [{"text/plain": "2"}], "error": []}]
    driver = answer["driver"]
    assert (driver["status"], driver["return_code"], driver["stdout"], driver["stderr"]) == ("Finished", 0, "", "")
    assert driver["execution_time"] > 0 and driver["details"]["isolation"].startswith("namespaces")


@pytest.mark.requirement("fusion-2.18", "fusion-2.22")
async def test_a_cell_that_raises_is_a_success_with_an_error(client: Client) -> None:
    answer = await run_jupyter(client, "x = 1", "undefined", "print(x)")
    assert (answer["status"], answer["message"]) == ("Success", "")
    (error,) = answer["cells"][1]["error"]
    assert (error["ename"], error["evalue"]) == ("NameError", "name 'undefined' is not defined")
    assert isinstance(error["traceback"], list) and "NameError" in error["traceback"][-1]
    assert answer["cells"][2]["stdout"] == "1\n"


@pytest.mark.requirement("fusion-2.19")
async def test_pictures_come_as_base64(client: Client) -> None:
    """The figure is in a display bundle together with its text."""
    picture = "from IPython.display import Image\nImage(data=b'\\x89PNG\\r\\n\\x1a\\n' + bytes(8), format='png')"
    (shown,) = (await run_jupyter(client, picture))["cells"][0]["display"]
    assert base64.b64decode(shown["image/png"]).startswith(b"\x89PNG") and "text/plain" in shown


@pytest.mark.requirement("fusion-2.24")
async def test_files_in_and_out(client: Client) -> None:
    answer = await run_jupyter(
        client,
        "open('out.txt', 'w').write(open('in.txt').read().upper())",
        files={"in.txt": b64(b"text"), "none.txt": None, "IGNORE_THIS_FILE.txt": "!"},
        fetch_files=["out.txt", "missing.txt"],
    )
    assert answer["files"] == {"out.txt": b64(b"TEXT")}


@pytest.mark.requirement("fusion-2.23")
async def test_a_notebook_out_of_time_failed_and_has_no_cells(client: Client) -> None:
    answer = await run_jupyter(client, "print('first')", "while True: pass", total_timeout=6)
    assert (answer["status"], answer["cells"]) == ("Failed", [])
    assert (answer["driver"]["status"], answer["driver"]["return_code"]) == ("TimeLimitExceeded", None)
    assert "total_timeout" in answer["message"]
    assert [cell["stdout"] for cell in answer["partial_cells"]] == ["first\n"]


@pytest.mark.requirement("fusion-2.26")
async def test_a_cell_out_of_time_is_told_in_its_errors(client: Client) -> None:
    answer = await run_jupyter(client, "import time; time.sleep(60)", "print('next')", cell_timeout=4)
    assert answer["status"] == "Success"
    assert [error["ename"] for error in answer["cells"][0]["error"]] == ["KeyboardInterrupt", "CellTimeoutError"]
    assert answer["cells"][1]["stdout"] == "next\n"


async def test_without_a_cell_timeout_cells_take_what_the_notebook_has(client: Client) -> None:
    answer = await run_jupyter(client, "import time; time.sleep(1.5); print('done')", cell_timeout=0)
    assert answer["cells"][0]["stdout"] == "done\n" and answer["cells"][0]["error"] == []


@pytest.mark.requirement("fusion-2.27")
async def test_memory_over_the_limit_failed_and_says_so(client: Client) -> None:
    skip_where_memory_is_not_counted(client.platform)
    answer = await run_jupyter(client, "print('before')", "x = b'x' * (1024**3)", "1", memory_limit_MB=256)
    assert (answer["status"], answer["driver"]["details"]["ending"]) == ("Failed", "out_of_memory")
    assert answer["cells"][0]["stdout"] == "before\n"
    assert [cell["error"][0]["ename"] for cell in answer["cells"][1:]] == ["DeadKernelError", "DeadKernelError"]
    assert "memory limit" in answer["cells"][1]["error"][0]["evalue"]
    assert answer["driver"]["details"]["limits"]["memory_bytes"] == 256 * 1024**2


async def test_a_kernel_that_dies_failed_with_the_cells_told(client: Client) -> None:
    answer = await run_jupyter(client, "import os; os._exit(1)", "1")
    assert answer["status"] == "Failed" and len(answer["cells"]) == 2
    assert answer["driver"]["status"] == "Finished" and answer["driver"]["return_code"] != 0


async def test_long_output_is_cut_in_the_middle(client: Client) -> None:
    text = (await run_jupyter(client, "print('é' * 30_000)"))["cells"][0]["stdout"]
    assert text.startswith("éé") and text.endswith("é\n") and "bytes dropped" in text and "\ufffd" not in text


async def test_displays_over_the_bound_are_told(client: Client) -> None:
    cell = (await run_jupyter(client, "'x' * 15_000", "'y' * 15_000"))["cells"][1]
    assert cell["display"] == [] and "[sandbox] 1 displays were dropped" in cell["stderr"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"cells": "1"},
        {"cells": [1]},
        {"cells": ["1"], "kernel": "ir"},
        {"cells": ["1"], "cell_timeout": -1},
        {"cells": ["1"], "total_timeout": 0},
        {"cells": ["1"], "total_timeout": 1e9},
        {"cells": ["1"], "total_timeout": "soon"},
        {"cells": ["1"], "memory_limit_MB": 10**9},
        {"cells": ["1"], "files": {"a": "not base64!"}},
        {"cells": ["1"], "files": {"../a": ""}},
        {"cells": ["1"], "fetch_files": ["/etc/passwd"]},
        {"cells": ["#" * 100_001]},
        {"cells": ["1"] * 10_001},
    ],
)
async def test_a_wrong_request_is_refused(client: Client, body: dict[str, Any]) -> None:
    answer = await client.post("/run_jupyter", json=body)
    assert answer.status_code == 422 and answer.json()["detail"]


@pytest.mark.requirement("fusion-1.12")
async def test_a_guest_without_kernels_is_our_failure_and_not_the_notebooks(tmp_path: Path) -> None:
    settings = Settings(
        state_dir=str(tmp_path / "state"), guest_python="/usr/bin/python3", check_languages=False, log_level="error"
    )
    async with serving(settings) as client:
        answer = await run_jupyter(client, "1")
    assert (answer["status"], answer["driver"], answer["cells"]) == ("SandboxError", None, [])
    assert "notebooks do not work here" in answer["message"]


async def test_overload_asks_to_come_back(tmp_path: Path) -> None:
    settings = Settings(
        state_dir=str(tmp_path / "state"), max_concurrency=1, queue_size=0, check_languages=False, log_level="error"
    )
    async with serving(settings) as client:
        entered = await client.platform.admission.enter()
        answer = await client.post("/run_jupyter", json={"cells": ["1"]})
        client.platform.admission.leave(entered)
    assert answer.status_code == 504 and int(answer.headers["Retry-After"]) >= 1


@pytest.mark.requirement("fusion-2.16")
async def test_the_route_is_described(client: Client) -> None:
    description = (await client.get("/openapi.json")).json()
    fields = description["paths"]["/run_jupyter"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert {name: field.get("default") for name, field in fields.items()} == {
        "cells": None,
        "cell_timeout": 0,
        "total_timeout": 45,
        "memory_limit_MB": -1,
        "kernel": "python3",
        "files": {},
        "fetch_files": [],
    }
