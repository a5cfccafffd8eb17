"""Warm interpreters from box to box: what they have in common and what never."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import command, open_box, put_file, run_python, shell
from tests.isolation.interpreters import VERSIONS, find_interpreter

from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import PLOT_MODULES, BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Outcome, Policy

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOADED = "import sys\nprint('statistics' in sys.modules)"
CHANCE = """
import hashlib, json, os, random, secrets, tempfile, uuid
print(json.dumps({
    "random": random.random(), "shuffled": random.sample(range(1000), 10), "own": random.Random().random(),
    "uuid": str(uuid.uuid4()), "secret": secrets.token_hex(), "urandom": os.urandom(8).hex(),
    "name": tempfile.mktemp(), "hash": hash("text"),
    "key": __import__("multiprocessing").current_process().authkey.hex(),
}))
"""
NUMBERS = """
import sys
loaded = [name in sys.modules for name in ("numpy", "pandas", "matplotlib.pyplot")]
import json, numpy, pandas, matplotlib.pyplot as plot
product = numpy.ones((300, 300)) @ numpy.ones((300, 300))
frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
plot.plot([1, 2, 3])
plot.savefig("plot.png")
print(json.dumps({
    "loaded": loaded, "product": product[0, 0], "sums": frame.groupby("b")["a"].sum().to_dict(),
    "picture": open("plot.png", "rb").read(4).hex(), "old": numpy.random.random(), "new": numpy.random.default_rng().random(),
}))
"""


async def told(backend: Backend, python: str, source: str, policy: Policy | None = None) -> Any:
    async with open_box(backend, policy) as box:
        put_file(box, "main.py", source.encode())
        outcome = await box.run(command(python, "main.py", wall_s=60))
    assert outcome.ok, outcome.stderr.text
    return json.loads(outcome.stdout.text)


async def test_modules_of_the_preset_are_there_before_the_first_line(single_use: Backend, guest_python: str) -> None:
    assert (await run_python(single_use, guest_python, LOADED)).stdout.text == "True\n"


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHASHSEED", "LD_LIBRARY_PATH", "LC_ALL"])
async def test_what_an_interpreter_reads_when_it_starts_makes_it_start(single_use: Backend, guest_python: str, name: str) -> None:
    source = f"{LOADED}\nimport os\nprint(os.environ[{name!r}])"
    outcome = await run_python(single_use, guest_python, source, env={name: "0"})
    assert outcome.stdout.text == "False\n0\n"


async def test_a_seed_of_hashes_is_obeyed(single_use: Backend, guest_python: str) -> None:
    source = "print(hash('text'))"
    said = {(await run_python(single_use, guest_python, source, env={"PYTHONHASHSEED": "7"})).stdout.text for _ in range(2)}
    assert len(said) == 1


async def test_two_boxes_have_no_chance_in_common(single_use: Backend, guest_python: str) -> None:
    one, other = await asyncio.gather(*(told(single_use, guest_python, CHANCE) for _ in range(2)))
    assert one.pop("hash") == other.pop("hash")  # one seed for all boxes of a spawner, as documented
    assert {name for name in one if one[name] == other[name]} == set()


async def test_a_warm_program_finds_nothing_of_the_one_before_it(namespaces: Backend, guest_python: str) -> None:
    source = "import os, json, sys\nprint(hasattr(json, 'mark'), 'MARK' in os.environ, 'second' in sys.modules)\n"
    marks = "json.mark = os.environ['MARK'] = '1'\nopen('second.py', 'w').close()\nimport second\n"
    async with open_box(namespaces) as box:
        put_file(box, "main.py", (source + marks).encode())
        said = [(await box.run(command(guest_python, "main.py"))).stdout.text for _ in range(2)]
    assert said == ["False False False\n"] * 2


async def test_what_merely_says_that_it_is_a_module_does_not_stop_a_program_from_ending_well(
    single_use: Backend, guest_python: str
) -> None:
    """Compiled libraries put such objects among the modules."""
    source = """
import sys, types
class Library:
    __slots__ = ()
    __class__ = types.ModuleType
sys.modules["library"] = Library()
print("done")
"""
    outcome = await run_python(single_use, guest_python, source)
    assert (outcome.exit_code, outcome.stdout.text, outcome.stderr.text) == (0, "done\n", "")


async def test_packages_that_an_earlier_command_installed_for_the_user_are_found(state_dir: str) -> None:
    skip_where_the_host_lacks("namespaces")
    python = next((found for version in VERSIONS if (found := find_interpreter(version))), None)
    if python is None:
        pytest.skip("an interpreter of a virtual environment has no packages of the user, and there is no other here")
    options = BackendOptions(guest_python=python, state_dir=state_dir, presets={"std": Preset(("statistics",))})
    install = "import os, site\nos.makedirs(site.USER_SITE)\nopen(site.USER_SITE + '/mine.py', 'w').write('found = True')"
    async with open_backend("namespaces", options) as backend, open_box(backend) as box:
        put_file(box, "install.py", install.encode())
        put_file(box, "main.py", f"{LOADED}\nimport mine\nprint(mine.found)".encode())
        assert (await box.run(command(python, "install.py"))).ok
        assert (await box.run(command(python, "main.py"))).stdout.text == "True\nTrue\n"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def data(options: BackendOptions) -> AsyncIterator[Backend]:
    skip_where_the_host_lacks("namespaces")
    packages = list(Path(options.guest_python).parent.parent.glob("lib/python*/site-packages/pandas"))
    if not packages:
        pytest.skip("the guest interpreter has no pandas: make setup")
    async with open_backend("namespaces", dataclasses.replace(options, presets={"plot": Preset(PLOT_MODULES)})) as backend:
        yield backend


async def test_the_data_preset_has_its_packages_loaded_and_they_work(data: Backend, guest_python: str) -> None:
    policy = Policy(preset="plot", single_use=True)
    one, other = [await told(data, guest_python, NUMBERS, policy) for _ in range(2)]
    for found in (one, other):
        assert found["loaded"] == [True, True, True] and found["product"] == 300.0
        assert found["sums"] == {"x": 4, "y": 2} and found["picture"] == "89504e47"
    assert one["old"] != other["old"] and one["new"] != other["new"]


async def test_the_data_preset_serves_many_commands_of_one_box(data: Backend, guest_python: str) -> None:
    async with open_box(data, Policy(preset="plot")) as box:
        put_file(box, "main.py", b"import pandas, sys\nprint(pandas.Series([1, 2]).sum())\nsys.exit(3)")
        outcomes: list[Outcome] = [await box.run(command(guest_python, "main.py")) for _ in range(3)]
        assert [(outcome.exit_code, outcome.stdout.text) for outcome in outcomes] == [(3, "3\n")] * 3
        assert (await box.run(shell("echo $OMP_NUM_THREADS$OPENBLAS_NUM_THREADS"))).stdout.text == "\n"
