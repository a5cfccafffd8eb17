"""The HTML pages: index, documentation and their assets."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.api.servers import Client, serving

from sandbox_runtime.api.pages.documentation import Documentation, docs_folder
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")), api_key="s3cret", pool_size=0, check_languages=False, log_level="error"
    )
    async with serving(settings) as opened:
        yield opened


@pytest.mark.requirement("fusion-1.02")
async def test_the_front_page_leads_to_the_documentation(client: Client) -> None:
    answer = await client.get("/")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
    assert '+ "/SandboxFusion"' in answer.text and "sha256-" in answer.headers["content-security-policy"]


@pytest.mark.requirement("fusion-1.07")
async def test_every_page_of_the_documentation_is_served(client: Client) -> None:
    for name, page in Documentation(docs_folder()).pages.items():
        for spelling in (name, f"{name}.md"):
            answer = await client.get(f"/SandboxFusion/{spelling}")
            assert answer.status_code == 200 and page.title.split("`")[0] in answer.text


async def test_no_link_between_pages_is_broken(client: Client) -> None:
    for name in Documentation(docs_folder()).pages:
        page = (await client.get(f"/SandboxFusion/{name}")).text
        for target in re.findall(r'href="([^"#]+)', page):
            if target.startswith("http"):
                continue
            answer = await client.get(f"/SandboxFusion/{name.rpartition('/')[0]}/".replace("//", "/") + target, headers=KEY)
            assert answer.status_code < 400, f"{name}: {target}"


async def test_the_pictures_of_a_page_are_served(client: Client) -> None:
    page = (await client.get("/SandboxFusion/architecture")).text
    sources = re.findall(r'<img src="([^"]+)"', page)
    assert len(sources) == 2
    for source in sources:
        answer = await client.get(f"/SandboxFusion/{source}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("image/svg+xml")
    assert (await client.get("/SandboxFusion/pictures/../start.svg")).status_code == 404


async def test_links_within_a_page_lead_to_a_heading(client: Client) -> None:
    page = (await client.get("/SandboxFusion/reference/http/control-plane")).text
    wanted, named = set(re.findall(r'href="#([^"]+)"', page)), set(re.findall(r' id="([^"]+)"', page))
    assert "errorresponse" in wanted and wanted <= named


KEY = {"X-API-Key": "s3cret"}


@pytest.mark.parametrize("path", ["/SandboxFusion", "/playground"])
async def test_an_address_without_its_slash_leads_to_the_one_with(client: Client, path: str) -> None:
    answer = await client.get(path, follow_redirects=True)
    assert answer.status_code == 200 and answer.url.path == f"{path}/"


@pytest.mark.requirement("fusion-1.08")
@pytest.mark.parametrize(
    "path", ["/", "/SandboxFusion/", "/SandboxFusion/docs.css", "/playground/", "/playground/app.js", "/playground/icon.svg"]
)
async def test_pages_need_no_key_and_carry_a_policy(client: Client, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_pages_can_be_asked_for_without_their_text(client: Client) -> None:
    for path in ("/", "/SandboxFusion/", "/playground/"):
        answer = await client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "../settings",
        "..%2f..%2fpyproject.toml",
        "%2e%2e/%2e%2e/pyproject.toml",
        "/etc/passwd",
        "start.md/",
    ],
)
@pytest.mark.parametrize("root", ["/SandboxFusion/", "/playground/"])
async def test_no_name_leads_outside(client: Client, root: str, name: str) -> None:
    answer = await client.get(root + name)
    assert answer.status_code in (401, 404) and "dependencies" not in answer.text


async def test_other_methods_on_pages_still_need_the_key(client: Client) -> None:
    for path in ("/", "/playground/", "/SandboxFusion/"):
        assert (await client.post(path)).status_code == 401


async def test_raw_html_in_the_documentation_is_not_rendered(tmp_path: Path) -> None:
    (tmp_path / "start.md").write_text("# <b>x</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n")
    page = Documentation(tmp_path).find("")
    assert page is not None and "<script>" not in page and "<b>" not in page and 'href="javascript' not in page


async def test_the_playground_loads_nothing_from_elsewhere() -> None:
    folder = docs_folder().parent / "src" / "sandbox_runtime" / "api" / "pages"
    for path in (*(folder / "playground").iterdir(), folder / "docs.css"):
        outside = [url for url in re.findall(r"https?://[^\s\"'`)]+", path.read_text()) if "www.w3.org/" not in url]
        assert not outside, path.name
