"""The client against a real server: the calls of the public client, sync and async, by one core."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.api.servers import RunningServer, listening

from sandbox_runtime import sdk
from sandbox_runtime.errors import Denied, InvalidRequest, Unavailable
from sandbox_runtime.sdk import RunCodeRequest, RunStatus, run_code, run_code_async, run_concurrent
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

MBPP = sdk.GetPromptsRequest(dataset="mbpp", config=sdk.TestConfig())
HELLO = RunCodeRequest(code="print('hello')", language="python")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")), api_key="s3cret", pool_size=0, check_languages=False, log_level="error"
    )
    async with listening(settings) as opened:
        yield opened


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_API_KEY", "s3cret")
    for name in ("SANDBOX_FUSION_ENDPOINT", "SANDBOX_FUSION_DATASET_ENDPOINT"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


@pytest.mark.requirement("fusion-13.07")
async def test_a_program_is_run_from_an_event_loop(server: RunningServer) -> None:
    answer = await run_code_async(HELLO, server.url)
    assert answer.status is RunStatus.Success and answer.run_result is not None
    assert (answer.run_result.stdout, answer.run_result.return_code, answer.compile_result) == ("hello\n", 0, None)


@pytest.mark.requirement("fusion-13.02")
async def test_a_program_is_run_without_an_event_loop(server: RunningServer) -> None:
    answer = await asyncio.to_thread(run_code, HELLO, server.url)
    assert answer.run_result is not None and answer.run_result.stdout == "hello\n"


@pytest.mark.requirement("fusion-13.03")
async def test_cells_are_run(server: RunningServer) -> None:
    request = sdk.RunJupyterRequest(cells=["x = 40", "print('said')\nx + 5", "1 / 0"])
    for answer in (
        await sdk.run_jupyter_async(request, server.url),
        await asyncio.to_thread(sdk.run_jupyter, request, server.url),
    ):
        assert answer.status is RunStatus.Success and len(answer.cells) == 3
        assert answer.cells[1].stdout == "said\n" and answer.cells[1].display[0]["text/plain"] == "45"
        assert answer.cells[2].error[0]["ename"] == "ZeroDivisionError"


async def test_what_the_server_adds_is_kept(server: RunningServer) -> None:
    answer = await run_code_async(HELLO, server.url)
    assert answer.run_result is not None and answer.run_result.model_dump()["details"]["ending"] == "exited"


@pytest.mark.requirement("fusion-13.01", "fusion-13.08")
async def test_the_endpoint_can_be_set_for_all_calls(server: RunningServer) -> None:
    sdk.set_endpoint(server.url + "/")
    assert (await run_code_async(HELLO)).status is RunStatus.Success
    assert len(await sdk.get_prompts_async(MBPP)) == 2


@pytest.mark.requirement("fusion-13.01", "fusion-13.08")
async def test_runs_and_judging_can_have_endpoints_of_their_own(server: RunningServer) -> None:
    sdk.set_sandbox_endpoint(server.url)
    assert (await run_code_async(HELLO)).status is RunStatus.Success
    with pytest.raises(Unavailable):
        await sdk.get_prompts_async(MBPP)
    sdk.set_dataset_endpoint(server.url)
    assert len(await sdk.get_prompts_async(MBPP)) == 2


async def test_a_problem_is_asked_for_and_its_answer_judged(server: RunningServer) -> None:
    config = sdk.TestConfig()
    asked = await sdk.get_prompt_by_id_async(sdk.GetPromptByIdRequest(dataset="mbpp", id=11, config=config), server.url)
    assert "twice_the_sum" in str(asked.prompt)
    for sign, right in (("+", True), ("-", False)):
        answer = f"```python\ndef twice_the_sum(a, b):\n    return (a {sign} b) * 2\n```"
        request = sdk.SubmitRequest(dataset="mbpp", id=11, completion=answer, config=config)
        for found in (await sdk.submit_async(request, server.url), await asyncio.to_thread(sdk.submit, request, server.url)):
            assert (found.accepted, found.tests[0].passed) == (right, right)


@pytest.mark.requirement("fusion-13.10")
async def test_many_at_once_come_back_in_order(server: RunningServer) -> None:
    requests = [[RunCodeRequest(code=f"echo {number}", language="bash"), server.url] for number in range(30)]
    answers = await asyncio.to_thread(run_concurrent, run_code, requests, concurrency=6)
    assert [answer.run_result.stdout for answer in answers if answer.run_result] == [f"{number}\n" for number in range(30)]


async def test_a_refused_request_is_raised_with_the_reason(server: RunningServer) -> None:
    with pytest.raises(InvalidRequest, match=r"422.*Input should be"):
        await run_code_async(RunCodeRequest(code="", language="klingon"), server.url)


async def test_a_wrong_key_is_told(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_API_KEY", "wrong")
    with pytest.raises(Denied, match="API key"):
        await run_code_async(HELLO, server.url)


async def test_a_client_that_waits_no_longer_stops_its_run(server: RunningServer) -> None:
    with pytest.raises(Unavailable, match="client_timeout"):
        await run_code_async(RunCodeRequest(code="sleep 30", language="bash", run_timeout=40), server.url, client_timeout=0.3)
    async with asyncio.timeout(20):
        while server.platform.pool.in_use:
            await asyncio.sleep(0.01)


async def test_a_server_that_is_not_there_is_told_after_the_last_attempt() -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        await run_code_async(HELLO, "http://127.0.0.1:9", max_attempts=2)


@pytest.mark.requirement("fusion-13.06")
async def test_submit_safe_gives_a_rejected_result_that_tells_why(server: RunningServer) -> None:
    request = sdk.SubmitRequest(dataset="d", id=7, completion="x", config=sdk.TestConfig())
    for found in (
        await sdk.submit_safe_async(request, server.url),
        await asyncio.to_thread(sdk.submit_safe, request, server.url),
    ):
        assert (found.id, found.accepted, found.tests) == (7, False, []) and "no eval class found" in str(found.extra)


@pytest.mark.parametrize("endpoint", ["localhost:8080", "ftp://x", "file:///etc/passwd"])
async def test_an_endpoint_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidRequest, match="http://HOST:PORT"):
        await run_code_async(HELLO, endpoint)
    with pytest.raises(InvalidRequest):
        sdk.set_endpoint(endpoint)


@pytest.mark.requirement("fusion-13.07")
@pytest.mark.parametrize("name", ["run_code", "run_jupyter", "get_prompts", "get_prompt_by_id", "submit", "submit_safe"])
async def test_both_forms_of_a_function_take_the_same(name: str) -> None:
    plain, twin = getattr(sdk, name), getattr(sdk, f"{name}_async")
    assert inspect.signature(plain) == inspect.signature(twin)
    assert inspect.iscoroutinefunction(twin) and not inspect.iscoroutinefunction(plain)


@pytest.mark.requirement("fusion-13.02", "fusion-13.03", "fusion-13.04", "fusion-13.05")
@pytest.mark.parametrize(
    ("name", "attempts"),
    [("run_code", 5), ("run_jupyter", 3), ("get_prompts", 1), ("get_prompt_by_id", 1), ("submit", 5), ("submit_safe", 5)],
)
async def test_attempts_are_those_of_the_public_client(name: str, attempts: int) -> None:
    parameters = inspect.signature(getattr(sdk, name)).parameters
    assert parameters["max_attempts"].default == attempts
    assert (parameters["endpoint"].default, parameters["client_timeout"].default) == ("", None)


@pytest.mark.requirement("fusion-2.01", "fusion-13.11")
async def test_the_messages_are_those_of_the_server() -> None:
    from sandbox_runtime.api.dialects.fusion.schemas import notebooks, programs

    run_code = {name: getattr(programs, name) for name in ("RunCodeRequest", "RunCodeResponse", "CommandRunResult")}
    cells = {name: getattr(notebooks, name) for name in ("RunJupyterRequest", "RunJupyterResponse", "CellRunResult")}
    for name, served in {**run_code, **cells}.items():
        ours, theirs = getattr(sdk, name).model_fields, served.model_fields
        added = {"skipped_files", "details", "partial_cells"}
        assert set(ours) == set(theirs) - added
        for field in set(ours) if name.endswith("Request") else ():
            assert ours[field].get_default(call_default_factory=True) == theirs[field].get_default(call_default_factory=True)


@pytest.mark.requirement("sdk-1.12")
async def test_the_client_needs_nothing_of_the_server() -> None:
    code = (
        "import sys, sandbox_runtime.sdk\n"
        "ours = {name for name in sys.modules if name.startswith('sandbox_runtime.') and name.count('.') == 1}\n"
        "assert ours <= {f'sandbox_runtime.{name}' for name in ('sdk', 'errors', 'model', 'quantities')}, ours\n"
        "server = {'fastapi', 'starlette', 'uvicorn', 'structlog', 'prometheus_client', 'typer', 'yaml', 'uvloop'}\n"
        "assert not server & set(sys.modules), server & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
