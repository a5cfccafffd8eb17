"""The playground in a real browser: it runs programs, and never executes what they print."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from tests.api.pages.browser import Browser, browsing
from tests.api.servers import RunningServer, listening

from sandbox_runtime.settings import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

EVIL = '</pre><script>window.pwned = 1</script><img src=x onerror="window.pwned = 1"><svg onload="window.pwned = 1">'
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@dataclass(frozen=True, slots=True)
class Open:
    server: RunningServer
    browser: Browser

    async def reload(self) -> None:
        await self.browser.open(f"{self.server.url}/playground/")
        await self.browser.until("document.querySelector('#language optgroup') || !document.querySelector('#notice').hidden")
        assert await self.browser.text_of("#notice") == ""

    async def run(self, code: str, language: str = "python") -> None:
        await self.browser.value(
            f"document.querySelector('#language').value = {json.dumps(language)};"
            f"document.querySelector('#code textarea').value = {json.dumps(code)};"
            "document.querySelector('#program-result').replaceChildren();"
            "document.querySelector('#run').click()"
        )
        await self.browser.until("document.querySelector('#program-result .tag') || !document.querySelector('#notice').hidden")

    async def run_cells(self, code: str) -> str:
        await self.browser.value(
            "document.querySelector('#tab-notebook').click();"
            f"document.querySelector('#cells textarea').value = {json.dumps(code)};"
            "document.querySelector('#run-cells').click()"
        )
        await self.browser.until("document.querySelector('#notebook-result .tag') || !document.querySelector('#notice').hidden")
        return await self.browser.text_of("#cells .out")

    async def result(self) -> str:
        return await self.browser.text_of("#program-result")

    async def untouched(self) -> None:
        assert await self.browser.value("window.pwned ?? null") is None and self.browser.dialogs == 0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Open]:
    state_dir = str(tmp_path_factory.mktemp("state"))
    settings = Settings(state_dir=state_dir, pod_name="pod-7", pool_size=0, log_level="error", check_languages=False)
    async with browsing(tmp_path_factory.mktemp("profile")) as browser, listening(settings) as server:
        yield Open(server, browser)


@pytest_asyncio.fixture(loop_scope="module")
async def playground(running: Open) -> Open:
    await running.reload()
    return running


@pytest.mark.requirement("fusion-12.05", "fusion-12.06")
async def test_a_program_runs_and_all_of_its_result_is_shown(playground: Open) -> None:
    await playground.run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    shown = await playground.result()
    for texts in ("Failed", "pod-7", "Run", "Finished", "return code 3", "time 0.", "out", "err"):
        assert texts in shown


@pytest.mark.requirement("fusion-12.06")
async def test_compiling_and_running_are_shown_apart(playground: Open) -> None:
    await playground.browser.value("document.querySelector('#compile-timeout').value = 60")
    await playground.run('#include <cstdio>\nint main() { puts("hi"); }', "cpp")
    shown = await playground.result()
    assert "Success" in shown and shown.index("Compile") < shown.index("Run") < shown.index("hi")


@pytest.mark.requirement("fusion-12.01")
async def test_the_selector_is_filled_with_the_catalog(playground: Open) -> None:
    names = await playground.browser.value("[...document.querySelectorAll('#language option')].map((one) => one.value)")
    assert set(names) == {language.name for language in playground.server.platform.catalog}


@pytest.mark.requirement("fusion-12.04")
async def test_timeouts_and_standard_input_are_sent(playground: Open) -> None:
    await playground.browser.value(
        "document.querySelector('#stdin').value = 'grüße'; document.querySelector('#run-timeout').value = 0.5"
    )
    await playground.run("print(input().upper(), flush=True)\nwhile True: pass")
    shown = await playground.result()
    assert "GRÜSSE" in shown and "TimeLimitExceeded" in shown


@pytest.mark.requirement("fusion-12.03")
async def test_files_go_in_and_come_out(playground: Open) -> None:
    await playground.browser.value(
        "(() => { const held = new DataTransfer();"
        "held.items.add(new File([new Uint8Array([0, 255, 49])], 'a.bin')); held.items.add(new File(['b'], 'b.txt'));"
        "const place = document.querySelector('#upload'); place.files = held.files;"
        "place.dispatchEvent(new Event('change')); document.querySelector('#fetch').value = 'out.bin, missing' })()"
    )
    await playground.browser.until("document.querySelectorAll('#files li').length === 2")
    await playground.run("import os; print(sorted(os.listdir())); open('out.bin', 'wb').write(open('a.bin', 'rb').read()[::-1])")
    assert "'a.bin', 'b.txt'" in await playground.result()
    assert "out.bin (3 bytes)" in await playground.result()
    assert await playground.browser.value("document.querySelector('#program-result a').download") == "out.bin"


@pytest.mark.requirement("fusion-12.02")
async def test_the_keyboard_runs_and_indents(playground: Open) -> None:
    browser = playground.browser
    await browser.value("document.querySelector('#code textarea').value = ''; document.querySelector('#code textarea').focus()")
    for key, code in (("Tab", 9), ("Enter", 13)):
        await browser.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code)
    assert await browser.value("document.querySelector('#code textarea').value") == "    \n    "
    assert await browser.text_of("#code .numbers") == "1\n2"
    await browser.value("document.querySelector('#code textarea').value = 'print(6 * 7)'")
    await browser.send("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, modifiers=2)
    await browser.until("document.querySelector('#program-result .tag')")
    assert "42" in await playground.result()


async def test_a_notebook_runs_and_shows_pictures_and_errors(playground: Open) -> None:
    shown = await playground.run_cells(
        "from IPython.display import Image, display\n"
        f"import base64\nprint('said')\ndisplay(Image(data=base64.b64decode({PICTURE!r})))\n40 + 5",
    )
    assert "Success" in await playground.browser.text_of("#notebook-result")
    assert "said" in shown and "45" in shown
    assert await playground.browser.value("document.querySelector('#cells img').naturalWidth") == 1


@pytest.mark.attack
async def test_markup_of_a_notebook_stays_text(playground: Open) -> None:
    code = f"from IPython.display import HTML, display\nprint({EVIL!r})\ndisplay(HTML({EVIL!r}))\nraise ValueError({EVIL!r})"
    shown = await playground.run_cells(code)
    assert "ValueError" in shown and EVIL in shown
    assert (
        await playground.browser.value("document.querySelectorAll('#cells .out script, #cells .out img, #cells svg').length") == 0
    )
    await playground.untouched()


async def test_a_refused_request_is_told(playground: Open) -> None:
    await playground.browser.value("document.querySelector('#run-timeout').value = -1")
    await playground.run("print(1)")
    assert "run_timeout" in await playground.browser.text_of("#notice")


async def test_light_and_dark_are_remembered(playground: Open) -> None:
    before = await playground.browser.value("document.documentElement.dataset.theme")
    await playground.browser.value("document.querySelector('#theme').click()")
    await playground.reload()
    assert await playground.browser.value("document.documentElement.dataset.theme") != before


@pytest.mark.requirement("fusion-12.07")
async def test_a_completion_is_judged_and_its_tests_are_shown(playground: Open) -> None:
    browser = playground.browser
    await browser.value(
        "document.querySelector('#dataset').value = 'code_contests'; document.querySelector('#tab-datasets').click();"
        "document.querySelector('#config').value = JSON.stringify({language: 'python'})"
    )
    await browser.until("document.querySelector('#prompt').textContent")
    assert "Print their sum" in await browser.text_of("#prompt")
    right = "```python\ninput()\nprint(sum(map(int, input().split())))\n```"
    for completion, texts in (
        (right, ("Accepted", "Test 3: passed")),
        ("```python\nprint(0)\n```", ("Rejected", "wrong answer")),
    ):
        await browser.value(
            f"document.querySelector('#completion textarea').value = {json.dumps(completion)};"
            "document.querySelector('#completion textarea').dispatchEvent(new Event('input'));"
            "document.querySelector('#submit').click()"
        )
        await browser.until("document.querySelector('#dataset-result .tag') && !document.querySelector('#submit').disabled")
        shown = await browser.text_of("#dataset-result")
        assert all(text in shown for text in texts), shown


async def test_nothing_is_asked_of_another_site(playground: Open) -> None:
    await playground.run("print(1)")
    assert {url.split("/")[2] for url in playground.browser.requested if url.startswith("http")} == {
        playground.server.url.removeprefix("http://")
    }


@pytest.mark.attack
@pytest.mark.parametrize("place", ["stdout", "stderr"])
async def test_markup_that_a_program_prints_stays_text(playground: Open, place: str) -> None:
    await playground.run(f"import sys; print({EVIL!r}, file=sys.{place})")
    assert EVIL in await playground.result()
    assert await playground.browser.value("document.querySelectorAll('#program-result script, #program-result img').length") == 0
    await playground.untouched()


@pytest.mark.attack
async def test_markup_in_the_name_of_a_file_stays_text(playground: Open) -> None:
    name = '"><img src=x onerror=window.pwned=1>'
    await playground.browser.value(f"document.querySelector('#fetch').value = {json.dumps(name)}")
    await playground.run(f"open({name!r}, 'w').write('x')")
    assert name in await playground.result()
    await playground.untouched()


@pytest.mark.attack
@pytest.mark.parametrize(
    "bundle",
    [
        {"text/html": EVIL},
        {"text/html": EVIL, "text/plain": EVIL},
        {"application/javascript": "window.pwned = 1", "text/plain": "x"},
        {"image/png": f'"{EVIL}'},
        {"image/png": "aGk=" + EVIL, "text/plain": EVIL},
        {"image/svg+xml": f'<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1">{EVIL}</svg>'},
        {"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"><script>parent.pwned = 1</script></svg>'},
        {"image/png": ["not", "text"], "text/plain": {"neither": EVIL}},
    ],
)
async def test_what_a_cell_displays_cannot_run(playground: Open, bundle: dict[str, object]) -> None:
    await playground.browser.value(
        f"import('./results.js').then((made) => document.body.append(made.display({json.dumps(bundle)})))"
    )
    await playground.browser.value("new Promise((done) => setTimeout(done, 200))")
    assert await playground.browser.value("document.body.lastElementChild.tagName") in ("PRE", "IMG")
    assert await playground.browser.value("document.body.lastElementChild.childElementCount") == 0
    await playground.untouched()


@pytest.mark.attack
@pytest.mark.parametrize(
    "attempt",
    [
        "const made = document.createElement('script'); made.textContent = 'window.pwned = 1'; document.body.append(made)",
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned = 1\">')",
        "const made = document.createElement('script'); made.src = 'data:,window.pwned=1'; document.body.append(made)",
        "const made = document.createElement('iframe'); made.srcdoc = '<script>top.pwned=1</script>'; document.body.append(made)",
    ],
)
async def test_even_markup_that_got_in_would_not_run(playground: Open, attempt: str) -> None:
    """The policy also stops scripts if escaping fails."""
    await playground.browser.value(f"(() => {{ {attempt} }})()")
    await playground.browser.value("new Promise((done) => setTimeout(done, 200))")
    await playground.untouched()


@pytest.mark.attack
async def test_nothing_can_be_sent_to_another_site(playground: Open) -> None:
    tried = "fetch('http://127.0.0.2:9/').then(() => 'sent', (error) => 'kept')"
    assert await playground.browser.value(tried) == "kept"
    assert not [url for url in playground.browser.requested if "127.0.0.2" in url]
