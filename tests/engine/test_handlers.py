"""Handlers in Python and JavaScript, called in real boxes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.engine.environments import LIMITS, a_home, a_platform, run, work

from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine.environments import Environment, RunResult
from sandbox_runtime.engine.handlers import HandlerContext, HandlerExitCode, HandlerResult, exit_code
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Ending, ExecutionKind

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    async with a_platform(str(tmp_path_factory.mktemp("state"))) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(platform: Platform) -> AsyncIterator[Environment]:
    async with a_home(platform.environments) as opened:
        yield opened


async def called(
    home: Environment, code: str, event: dict[str, Any] | None = None, language: str = "python", **more: object
) -> RunResult:
    if language != "python" and not home._planner.paths.node_bin:
        pytest.skip("Node.js is not installed here: sandbox languages install nodejs")
    return await run(home, work(code, ExecutionKind.handler, event=event or {}, language=language, **more))


def value(ran: RunResult) -> Any:
    assert ran.handler_result is not None and ran.handler_result.value_json is not None, (
        ran.handler_result,
        ran.outcome.stderr.text,
    )
    return json.loads(ran.handler_result.value_json)


def code_of(ran: RunResult) -> int:
    return exit_code(ran.outcome, ran.handler_result)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "def handler(event):\n    return {'doubled': event['n'] * 2}"),
        ("python", "def handler(event, context):\n    return {'doubled': event['n'] * 2}"),
        ("python", "async def handler(event, context=None):\n    return {'doubled': event['n'] * 2}"),
        ("python", "handler = lambda *given: {'doubled': given[0]['n'] * 2}"),
        ("python", "class Doubling:\n    def __call__(self, event): return {'doubled': event['n'] * 2}\nhandler = Doubling()"),
        ("javascript", "function handler(event) { return {doubled: event.n * 2}; }"),
        ("javascript", "const handler = async (event, context) => ({doubled: event.n * 2});"),
        ("javascript", "exports.handler = (event) => Promise.resolve({doubled: event.n * 2});"),
        ("javascript", "export async function handler(event, context) { return {doubled: event.n * 2}; }"),
    ],
)
async def test_a_handler_of_either_arity_is_called_with_the_event(home: Environment, language: str, code: str) -> None:
    ran = await called(home, code, {"n": 21}, language)
    assert value(ran) == {"doubled": 42} and code_of(ran) == HandlerExitCode.success


async def test_what_a_handler_prints_is_kept_apart_from_what_it_returns(home: Environment) -> None:
    code = "import sys\ndef handler(event):\n    print('out')\n    print('err', file=sys.stderr)\n    return [1, None, 'é']"
    ran = await called(home, code)
    assert (ran.outcome.stdout.text, ran.outcome.stderr.text, value(ran)) == ("out\n", "err\n", [1, None, "é"])


@pytest.mark.parametrize("language", ["python", "javascript"])
async def test_a_handler_finds_the_fields_of_its_context(home: Environment, language: str) -> None:
    names = "function_name function_version request_id log_group_name log_stream_name memory_limit_in_mb invoked_function_arn"
    more = "[context.mine, context.get_remaining_time_in_millis()]"
    python = f"def handler(e, context): return [getattr(context, n) for n in {names.split()}] + {more}"
    javascript = f"const handler = (e, context) => {json.dumps(names.split())}.map((n) => context[n]).concat({more})"
    about = HandlerContext("r1", "s1", extra=(("mine", 7),))
    found = value(await called(home, python if language == "python" else javascript, {}, language, context=about))
    arn = "arn:sandbox:function:unknown-function"
    assert found[:-1] == ["unknown-function", "$LATEST", "r1", "/lambda-sandbox/logs", "s1", 512, arn, 7]
    assert 0 < found[-1] <= 30_000


@pytest.mark.parametrize(
    ("language", "code", "status", "told"),
    [
        ("python", "def handler(event:", HandlerExitCode.not_loaded, "SyntaxError"),
        ("python", "import nothing_of_that_name", HandlerExitCode.not_loaded, "ModuleNotFoundError"),
        ("python", "print('no handler')", HandlerExitCode.not_loaded, "no function `handler`"),
        ("python", "handler = 5", HandlerExitCode.not_loaded, "no function `handler`"),
        ("python", "def handler(event): return event['missing']", HandlerExitCode.raised, "KeyError"),
        ("python", "import sys\ndef handler(event): sys.exit(0)", HandlerExitCode.raised, "SystemExit"),
        ("python", "def handler(event): return {1, 2}", HandlerExitCode.not_serializable, "set"),
        (
            "python",
            "def handler(event):\n    a = []\n    a.append(a)\n    return a",
            HandlerExitCode.not_serializable,
            "Circular",
        ),
        ("python", "def handler(event): return 'x' * 2_000_000", HandlerExitCode.not_serializable, "1048576"),
        ("javascript", "function handler( {", HandlerExitCode.not_loaded, "SyntaxError"),
        ("javascript", "const x = 5", HandlerExitCode.not_loaded, "no function `handler`"),
        ("javascript", "function handler() { throw new TypeError('bad') }", HandlerExitCode.raised, "TypeError: bad"),
        ("javascript", "function handler() { const a = {}; a.a = a; return a }", HandlerExitCode.not_serializable, "circular"),
        ("javascript", "function handler() { return 5n }", HandlerExitCode.not_serializable, "BigInt"),
    ],
)
async def test_what_goes_wrong_has_its_own_code_and_is_told(
    home: Environment, language: str, code: str, status: int, told: str
) -> None:
    ran = await called(home, code, {}, language)
    assert code_of(ran) == status == ran.outcome.exit_code
    assert ran.handler_result is not None and told in ran.handler_result.error + ran.outcome.stderr.text


async def test_a_traceback_shows_the_line_and_nothing_of_ours(home: Environment) -> None:
    ran = await called(home, "def handler(event):\n    broken = 1 / 0\n")
    assert "broken = 1 / 0" in ran.outcome.stderr.text and "_sandbox" not in ran.outcome.stderr.text


async def test_a_handler_over_its_time_or_memory_is_told_as_that(home: Environment) -> None:
    slow = await called(home, "import time\ndef handler(event): time.sleep(60)", limits=LIMITS.replace(wall_s=0.3))
    assert (slow.outcome.ending, code_of(slow)) == (Ending.timed_out, HandlerExitCode.timed_out)
    greedy = await called(home, "def handler(event):\n    x = bytearray(900_000_000)\n    x[::4096] = b'1' * len(x[::4096])")
    assert code_of(greedy) in (137, HandlerExitCode.raised)


async def test_numbers_that_json_has_not_become_null(home: Environment) -> None:
    assert value(await called(home, "def handler(event): return {'a': float('nan'), 'b': [float('inf'), 1.5]}")) == {
        "a": None,
        "b": [None, 1.5],
    }


async def test_a_handler_finds_modules_and_files_of_its_workspace(home: Environment) -> None:
    await run(home, work("open('mine.py', 'w').write('value = 3')\nopen('mine.js', 'w').write('exports.value = 3')"))
    assert value(await called(home, "import mine\ndef handler(event): return mine.value")) == 3
    assert value(await called(home, "const mine = require('./mine'); exports.handler = () => mine.value", {}, "javascript")) == 3


@pytest.mark.parametrize(
    "attack",
    [
        "import os\nos.write(3, b'\\xff\\xff\\xff\\xff' + b'x' * 100)",
        "import os\nos.write(3, b'\\0\\0\\0\\5{nope')",
        "import os\nos.close(3)",
        "import os\nos._exit(0)",
        "import os\nx = b'{\"how\": \"ok\", \"value\": \"' + b'[' * 5000 + b'\"}'\nos.write(3, len(x).to_bytes(4, 'big') + x)",
    ],
)
async def test_a_handler_that_abuses_its_line_gets_no_value(home: Environment, attack: str) -> None:
    ran = await called(home, f"{attack}\ndef handler(event): return 5")
    assert ran.handler_result is None or ran.handler_result.value_json is None
    assert value(await called(home, "def handler(event): return 5")) == 5


async def test_a_script_can_be_asked_for_its_variables(home: Environment) -> None:
    ran = await run(home, work("import sys\na = [1]\nb = {2}\nprint(sys.argv[1:])", variables=("a", "b", "missing"), args=("x",)))
    assert (value(ran), ran.outcome.stdout.text) == ({"a": [1], "b": "{2}"}, "['x']\n")
    failed = await run(home, work("a = 1\nraise SystemExit(3)", variables=("a",)))
    assert failed.outcome.exit_code == 3 and failed.handler_result is not None and failed.handler_result.value_json is None


async def test_a_script_that_defines_a_handler_can_have_it_called(home: Environment) -> None:
    both = "print(__name__)\ndef handler(event): return event['n']"
    ran = await run(home, work(both, call_handler=True, event={"n": 4}))
    assert (ran.outcome.stdout.text, value(ran)) == ("__main__\n", 4)
    plain = await run(home, work("print(1)", call_handler=True))
    assert plain.outcome.ok and plain.handler_result == HandlerResult("ok")


async def test_other_languages_have_no_handlers(home: Environment) -> None:
    with pytest.raises(InvalidRequest, match="Python or JavaScript"):
        await called(home, "echo", {}, "bash")
