"""The documentation as a site: the Markdown files of docs/, each rendered on its first request.

Names are looked up in a list of files made at start-up, so no name leads outside of docs/. Raw HTML in a file is shown as text.
"""

from __future__ import annotations

import html
import itertools
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

START_PAGE = "start"
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · sandbox-runtime</title><link rel="stylesheet" href="{root}docs.css"></head>
<body><nav><a class="home" href="{root}">sandbox-runtime</a>{links}
<h2>Try it</h2><a href="{root}../playground/">Playground</a><a href="{root}../docs">Routes</a></nav>
<article>{body}</article></body></html>
"""


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    title: str
    path: Path

    @property
    def group(self) -> str:
        return self.name.rpartition("/")[0]


def docs_folder() -> Path:
    """Return the folder beside this file in an installed package, otherwise that of the checkout."""
    packaged = Path(__file__).with_name("docs")
    return packaged if packaged.is_dir() else Path(__file__).parents[4] / "docs"


class Documentation:
    def __init__(self, folder: Path) -> None:
        pages = (_page(folder, path) for path in sorted(folder.rglob("*.md")))
        self.pages = {page.name: page for page in sorted(pages, key=lambda page: (page.group, page.name))}
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        self._rendered: dict[str, str] = {}

    def find(self, name: str) -> str | None:
        """Return the HTML of a page, or None if it does not exist. The name may end in `.md`; "" is the start page."""
        name = name.removesuffix(".md") or START_PAGE
        if name not in self.pages:
            return None
        if name not in self._rendered:
            self._rendered[name] = self._render(self.pages[name])
        return self._rendered[name]

    def _render(self, page: Page) -> str:
        root = "../" * page.name.count("/") or "./"
        tokens = self._markdown.parse(page.path.read_text(encoding="utf-8"))
        _name_headings(tokens)
        body = self._markdown.renderer.render(tokens, self._markdown.options, {})
        return _PAGE.format(title=html.escape(page.title), root=root, links=self._links(root), body=body)

    def _links(self, root: str) -> str:
        group, parts = "", []
        for page in self.pages.values():
            if page.group != group:
                group = page.group
                parts.append(f"<h2>{html.escape(posixpath.basename(group).capitalize())}</h2>")
            parts.append(f'<a href="{root}{html.escape(page.name)}">{html.escape(page.title)}</a>')
        return "".join(parts)


def _name_headings(tokens: list[Token]) -> None:
    """Give headings the ids that GitHub gives them, so that links to them work."""
    for opening, text in itertools.pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", re.sub(r"[^\w\- ]", "", text.content.lower()).replace(" ", "-"))


def _page(folder: Path, path: Path) -> Page:
    name = path.relative_to(folder).with_suffix("").as_posix()
    lines = path.read_text(encoding="utf-8").splitlines()
    title = next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), name)
    return Page(name, title, path)
