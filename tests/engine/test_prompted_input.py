"""Standard input that a program gets when it asks for it, and not before."""

from __future__ import annotations

import pytest

from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine.run.prompted_input import PromptedInput
from sandbox_runtime.model import Ending, Job, JobResult, Limits, Reply

REPLY = Reply(b"\nplease\n", b"token\n")
LIMITS = Limits(wall_s=60, memory_bytes=2**30)


async def run(platform: Platform, code: str, wall_s: float = 60, stdin: bytes | None = None) -> JobResult:
    job = Job("python", code, stdin, run_limits=LIMITS.replace(wall_s=wall_s), reply=REPLY)
    async with platform.engine.slot() as slot:
        return await slot.run(job)


async def test_the_prompt_is_answered_and_then_the_input_ends(platform: Platform) -> None:
    result = await run(platform, "import sys\nprint('a\\nplease', flush=True)\nprint(repr(sys.stdin.read()))")
    assert result.run is not None and result.run.stdout.text == "a\nplease\n'token\\n'\n"


async def test_a_prompt_in_pieces_is_answered(platform: Platform) -> None:
    code = "import os\nfor c in b'\\nplease\\n':\n    os.write(1, bytes([c]))\nprint(input())"
    result = await run(platform, code)
    assert result.run is not None and result.run.stdout.text == "\nplease\ntoken\n"


async def test_the_input_of_the_job_comes_first(platform: Platform) -> None:
    result = await run(platform, "print(input())\nprint('\\nplease', flush=True)\nprint(input())", stdin=b"own\n")
    assert result.run is not None and result.run.stdout.text == "own\n\nplease\ntoken\n"


async def test_who_reads_without_asking_waits_until_its_time_is_up(platform: Platform) -> None:
    result = await run(platform, "input()", wall_s=1)
    assert result.run is not None and result.run.ending is Ending.timed_out


async def test_a_program_that_does_not_ask_ends_as_usual(platform: Platform) -> None:
    result = await run(platform, "print('please', 1)")
    assert result.run is not None and result.run.ok


async def test_a_program_that_closed_its_input_goes_on(platform: Platform) -> None:
    result = await run(platform, "import os\nos.close(0)\nprint('\\nplease', flush=True)")
    assert result.run is not None and result.run.ok


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_only_standard_output_is_searched_and_all_output_is_passed_on(stream: str) -> None:
    heard: list[tuple[str, bytes]] = []
    prompted = PromptedInput(REPLY, lambda name, piece: heard.append((name, piece)))
    prompted.on_output(stream, b"x\nplease\ny")
    assert heard == [(stream, b"x\nplease\ny")]
    assert prompted.prompt_seen is (stream == "stdout")
