"""Extraction code of a caller's own: what it finds counts, and it can do nothing but find."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.judge.custom_extraction import extract_custom_blocks
from sandbox_runtime.judge.limits import fit_limits
from sandbox_runtime.model import Ending, Job, JobResult, Outcome
from sandbox_runtime.model.judge import Block
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
TICKS = "```"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), check_languages=False, log_level="error")
    async with open_platform(settings) as opened:
        yield opened


async def found(platform: Platform, logic: str, completion: str = "") -> tuple[Block, ...]:
    async def run(job: Job) -> JobResult:
        return await platform.engine.run(fit_limits(job, platform.request_limits))

    return await extract_custom_blocks(run, logic, completion)


async def test_the_blocks_that_it_submits_come_back(platform: Platform) -> None:
    logic = (
        "import re\n"
        "print('noise')\n"
        "for found in re.findall(r'<code>(.*?)</code>', completion):\n"
        "    submit_code_blocks([CodeBlock(priority=40, language='python', code=found)])\n"
    )
    blocks = await found(platform, logic, "<code>é = 1</code> or <code>b</code>")
    assert blocks == (Block(40, "python", "é = 1"), Block(40, "python", "b"))


@pytest.mark.requirement("judge-11.04")
async def test_it_finds_the_steps_of_extraction_in_its_scope(platform: Platform) -> None:
    logic = (
        "blocks = extract_fenced_code(completion) + extract_heuristic_code('def f():\\n    pass\\n', 'python')\n"
        "submit_code_blocks([CodeBlock(priority=b.priority + 20, language=b.language, code=b.code) for b in blocks])\n"
    )
    blocks = await found(platform, logic, f"{TICKS}js\na\n{TICKS}")
    assert blocks == (Block(50, "nodejs", "a"), Block(30, "python", "def f():\n    pass"))


@pytest.mark.parametrize(
    ("logic", "told"),
    [
        ("re.findall('a', completion)", "NameError: name 're'"),
        ("this is no code", "SyntaxError"),
        ("while True: pass", "failed"),
        ("import os; os._exit(0)", "failed"),
        ("submit_code_blocks([1])", "AttributeError"),
        ("import os, json; json.dump([7], open('blocks.json', 'w')); os._exit(0)", "must submit"),
        ("submit_code_blocks([CodeBlock(1, 'a', 'b')] * 1001)", "at most 1000"),
    ],
)
async def test_logic_that_fails_is_the_callers_fault(
    platform: Platform, logic: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sandbox_runtime.judge.custom_extraction.runner._LIMITS", platform.request_limits.default.replace(wall_s=3)
    )
    with pytest.raises(InvalidRequest, match=told):
        await found(platform, logic)


@pytest.mark.requirement("judge-11.05")
async def test_it_reaches_nothing_of_the_server(platform: Platform, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    logic = (
        "import os, sys\n"
        f"seen = [os.path.exists({str(secret)!r}), 'fastapi' in sys.modules]\n"
        "submit_code_blocks([CodeBlock(40, '', str(seen))])\n"
    )
    assert (await found(platform, logic))[0].code == str([False] * 2)


async def test_a_box_that_fails_is_our_fault() -> None:
    async def lost(job: Job) -> JobResult:
        return JobResult(None, Outcome(Ending.lost, message="the box was lost"))

    with pytest.raises(PlatformFault, match="the box was lost"):
        await extract_custom_blocks(lost, "pass", "")
