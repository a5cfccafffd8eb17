"""Trials judged in the real jail: what comes out for what a program does."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.conftest import OUT_OF_MEMORY, skip_where_memory_is_not_counted
from tests.judge.trials import job, limits, settings_in, trial

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.errors import RequestError
from sandbox_runtime.model import Blame, Case, Check, Guard, GuardKind, Reason, Trial, Verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOUBLE = "print(2 * int(input()))"
PAIRS = [(str(number), str(2 * number)) for number in range(6)]
CPP = "#include <iostream>\nint main() { long n; std::cin >> n; std::cout << 2 * n << std::endl; }"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    async with open_platform(settings_in(tmp_path_factory.mktemp("judge"), output_keep_bytes=4096)) as opened:
        yield opened


async def judged(platform: Platform, made: Trial) -> Verdict:
    return await platform.judge.judge(made)


async def test_a_right_program_is_accepted_with_every_case(platform: Platform) -> None:
    verdict = await judged(platform, trial(DOUBLE, *PAIRS))
    assert verdict.accepted and verdict.reason is Reason.accepted and verdict.blame is None
    assert [case.run and case.run.stdout.text for case in verdict.cases] == [f"{expected}\n" for _, expected in PAIRS]


async def test_the_first_wrong_answer_ends_the_matter(platform: Platform) -> None:
    pairs = [*PAIRS[:2], ("7", "wrong"), *PAIRS[2:]]
    verdict = await judged(platform, trial(DOUBLE, *pairs))
    assert (verdict.accepted, verdict.reason, verdict.blame) == (False, Reason.wrong_answer, Blame.program)
    assert [case.passed for case in verdict.cases] == [True, True, False] and "'14' was printed" in verdict.message


async def test_all_cases_are_run_when_that_is_wanted(platform: Platform) -> None:
    pairs = [("1", "wrong"), *PAIRS]
    verdict = await judged(platform, trial(DOUBLE, *pairs, run_all=True))
    assert not verdict.accepted and [case.passed for case in verdict.cases] == [False, *[True] * len(PAIRS)]


@pytest.mark.parametrize(
    ("code", "reason", "blame"),
    [
        ("1/0", Reason.runtime_error, Blame.program),
        ("this is no Python", Reason.runtime_error, Blame.program),
        ("import os; os.kill(os.getpid(), 9)", Reason.runtime_error, Blame.program),
        ("import os; os._exit(0)", Reason.wrong_answer, Blame.program),
        ("while True: pass", Reason.time_limit, Blame.limit),
        ("while True: print('x' * 100_000)", Reason.output_limit, Blame.limit),
        ("b'x' * 10**4; keep = [bytearray(2**26) for _ in range(10**4)]", Reason.memory_limit, Blame.limit),
        ("file = open('f', 'wb')\nwhile True: file.write(bytes(2**20))", Reason.disk_limit, Blame.limit),
        ("print('x' * 100_000)", Reason.output_limit, Blame.program),
    ],
)
async def test_what_a_program_does_is_told(platform: Platform, code: str, reason: Reason, blame: Blame) -> None:
    if reason is Reason.memory_limit:
        skip_where_memory_is_not_counted(OUT_OF_MEMORY)
    small = limits(5 if reason is Reason.time_limit else 20).replace(
        memory_bytes=2**28 if reason is Reason.memory_limit else 2**30
    )
    made = trial(code, ("1", "2"))
    verdict = await judged(platform, dataclasses.replace(made, job=dataclasses.replace(made.job, run_limits=small)))
    assert (verdict.accepted, verdict.reason, verdict.blame) == (False, reason, blame)


async def test_what_compiles_is_compiled_once_for_all_cases(platform: Platform) -> None:
    verdict = await judged(platform, trial(CPP, *PAIRS, language="cpp"))
    assert verdict.accepted and len(verdict.cases) == len(PAIRS)
    first = verdict.cases[0].compile
    assert first is not None and first.ok and all(case.compile is first for case in verdict.cases)


async def test_what_does_not_compile_is_a_compile_error(platform: Platform) -> None:
    for pairs in (PAIRS, PAIRS[:1]):
        verdict = await judged(platform, trial("int main( {", *pairs, language="cpp"))
        assert (verdict.reason, verdict.blame, len(verdict.cases)) == (Reason.compile_error, Blame.program, 1)
        assert verdict.cases[0].compile is not None and verdict.cases[0].run is None


async def test_a_good_end_is_enough_where_nothing_is_compared(platform: Platform) -> None:
    assert (await judged(platform, trial("pass", check="status"))).accepted
    assert (await judged(platform, trial("assert False", check="status"))).reason is Reason.runtime_error


async def test_what_is_fetched_comes_with_the_case(platform: Platform) -> None:
    made = trial("open('report', 'w').write('all well')", check="status")
    verdict = await judged(platform, dataclasses.replace(made, job=dataclasses.replace(made.job, fetch=("report",))))
    assert verdict.accepted and verdict.cases[0].files == {"report": b"all well"}


async def test_a_passed_case_shows_its_short_form(platform: Platform) -> None:
    cases = (Case(b"1", "2", {"long": 1}, {"short": 1}), Case(b"1", "3", {"long": 2}, {"short": 2}))
    verdict = await judged(platform, Trial(job(DOUBLE), cases, Check("lines")))
    assert [case.info for case in verdict.cases] == [{"short": 1}, {"long": 2}]


async def test_an_expected_output_that_is_longer_than_what_is_kept_judges_nobody(platform: Platform) -> None:
    verdict = await judged(platform, trial("print('x' * 100_000)", ("", "x" * 100_000)))
    assert verdict.reason is Reason.not_judged and "output_keep_bytes" in verdict.message


async def test_a_decided_trial_is_not_run(platform: Platform) -> None:
    right = await judged(platform, trial("1/0", decided=True))
    wrong = await judged(platform, trial("pass", decided=False, note="not what was asked"))
    caught = await judged(platform, trial("pass", decided=False, tamper=("exit",), note="leaves early"))
    assert right.accepted and right.cases[0].run is None
    assert (wrong.reason, wrong.message) == (Reason.wrong_answer, "not what was asked")
    assert (caught.reason, caught.tamper) == (Reason.tampered, ("exit",))


@pytest.mark.parametrize("guard", ["shared", "split"])
async def test_tests_decide(platform: Platform, guard: str) -> None:
    def guarded(solution: str) -> Trial:
        tests = "assert double(2) == 4\nassert double(0) == 0"
        made = trial(f"{solution}\n{tests}", check="status")
        return dataclasses.replace(made, guard=Guard(GuardKind.python, solution, tests, shared=guard == "shared"))

    right = await judged(platform, guarded("def double(n): return 2 * n"))
    wrong = await judged(platform, guarded("def double(n): return n"))
    early = await judged(platform, guarded("import os\nos._exit(0)"))
    assert right.accepted and right.extra["guard"] == guard and right.cases[0].run is not None
    assert right.cases[0].run.stdout.text == ""
    assert wrong.reason is Reason.wrong_answer and wrong.cases[0].run is not None
    assert wrong.message.startswith("assert double(2) == 4: AssertionError")
    assert "AssertionError" in wrong.cases[0].run.stderr.text
    assert early.reason is Reason.tampered and early.tamper


async def test_a_language_that_is_not_installed_judges_nobody(platform: Platform) -> None:
    verdict = await judged(platform, trial("x", language="cuda"))
    if verdict.reason is not Reason.not_judged:
        pytest.skip("this machine has what the test needs to be missing")
    assert verdict.blame is Blame.platform and "does not work on this host" in verdict.message


@pytest.mark.parametrize(
    "made",
    [
        Trial(job("pass"), cases=()),
        trial("pass", check="no such checker"),
        trial("pass", check="program"),
        trial("pass", check=Check("lines", job=job("pass"))),
        trial("pass", language="no such language"),
        trial("pass", wall_s=80_000),
    ],
)
async def test_what_cannot_be_judged_as_it_is_is_refused(platform: Platform, made: Trial) -> None:
    with pytest.raises(RequestError):
        await judged(platform, made)


async def test_limits_that_are_higher_than_allowed_are_as_the_operator_has_them(platform: Platform) -> None:
    made = trial(DOUBLE, *PAIRS[:1])
    wide = made.job.run_limits.replace(processes=90_000, disk_bytes=2**40, memory_bytes=2**39)
    assert (await judged(platform, dataclasses.replace(made, job=dataclasses.replace(made.job, run_limits=wide)))).accepted


async def test_a_caller_who_goes_away_leaves_nothing_running(platform: Platform) -> None:
    task = asyncio.create_task(judged(platform, trial("while True: pass", *PAIRS)))
    async with asyncio.timeout(60):
        while not platform.pool.in_use:
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert platform.admission.busy == 0 and platform.pool.in_use == 0


async def test_verdicts_are_counted_by_dataset_and_reason(platform: Platform) -> None:
    await platform.judge.judge(trial(DOUBLE, ("1", "2")), "mbpp")
    await platform.judge.judge(trial(DOUBLE, ("1", "3")), "not registered")
    told = platform.metrics.exposition().decode()
    assert 'sandbox_verdicts_total{dataset="mbpp",reason="accepted"} 1.0' in told
    assert 'dataset="other",reason="wrong_answer"' in told and "not registered" not in told
