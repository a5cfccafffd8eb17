"""RepoBench: the next line of a file, with pieces of other files of the repository in view.

A row: id, repo_name, file_path, context, import_statement, code, next_line, and for completion (C) the prompt; for the pipeline
(P) context is a list of {path, snippet} and gold_snippet_index names the one that matters. Lines are compared word by word; no
program is run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.benchmarks.row_columns import optional_json, optional_text, row_id, text
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import fenced_blocks, incomplete_blocks
from sandbox_runtime.model.job import Job
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_LAST_LINES, _LAST_TOKENS, _PROMPT_TOKENS = 60, 1600, 8000
_MODES = ("oracle-filled",)
_COMMENT = {"python": "#", "java": "//"}
_TOKEN = re.compile(r" ?[A-Za-z]+| ?\d{1,3}| ?[^\s\w]{1,2}|\s|\S")
_LETTERS_PER_TOKEN = 6


@dataclass(frozen=True, slots=True)
class _Snippet:
    path: str
    text: str


def _language(options: Options) -> str:
    return "java" if "java" in options.dataset else "python"


def _completion_prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    return (_make_prompt(row, text(row, "prompt")),)


def _pipeline_prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    return (_make_prompt(row, _pipeline_prompt(row, options)),)


def _make_prompt(row: Row, prompt: str) -> Prompt:
    return Prompt(id=row_id(row), prompt=prompt, labels={"next_line": text(row, "next_line")})


def _pipeline_prompt(row: Row, options: Options) -> str:
    """The snippet that matters, then others as long as there is room, each as a comment, and the end of the file last."""
    if (mode := options.extra.get("retrieval_mode") or _MODES[0]) not in _MODES:
        raise InvalidRequest(f"the option 'retrieval_mode' must be one of {', '.join(_MODES)}, not {mode!r}")
    language = _language(options)
    tail = _file_tail(row, language)
    room = _max_prompt_tokens(options) - estimate_tokens(tail)
    chosen: list[str] = []
    for snippet in _ordered_snippets(row):
        shown = _as_comment(snippet, _COMMENT[language])
        room -= estimate_tokens(shown)
        if room < 0 and chosen:
            break
        chosen.append(shown)
    return "\n".join([*chosen, tail])


def _max_prompt_tokens(options: Options) -> int:
    most = options.extra.get("max_prompt_length", _PROMPT_TOKENS)
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidRequest(f"the option 'max_prompt_length' must be a whole number above 0, not {most!r}")
    return most


def _file_tail(row: Row, language: str) -> str:
    lines = text(row, "code").split("\n")[-_LAST_LINES:]
    while len(lines) > 1 and estimate_tokens("\n".join(lines)) > _LAST_TOKENS:
        lines = lines[1:]
    path = f"{_COMMENT[language]} Path: {optional_text(row, 'file_path') or ''}"
    return "\n".join([path, optional_text(row, "import_statement") or "", *lines])


def _ordered_snippets(row: Row) -> Iterator[_Snippet]:
    """The one that matters first; the others in an order that is as good as random and always the same."""
    snippets = [_parse_snippet(each) for each in _context_entries(row)]
    gold = row.get("gold_snippet_index")
    if isinstance(gold, bool) or not isinstance(gold, int) or not -1 <= gold < len(snippets):
        raise InvalidRequest("gold_snippet_index must be the number of a snippet in context, or -1 where none matters")
    if gold >= 0:
        yield snippets.pop(gold)
    yield from sorted(snippets, key=lambda snippet: hashlib.md5(snippet.text.encode(), usedforsecurity=False).hexdigest())


def _context_entries(row: Row) -> list[Any]:
    context = optional_json(row, "context")
    if not isinstance(context, list):
        raise InvalidRequest("the column 'context' must be a list of {path, snippet}")
    return context


def _parse_snippet(each: object) -> _Snippet:
    if not (isinstance(each, Mapping) and isinstance(each.get("path"), str) and isinstance(each.get("snippet"), str)):
        raise InvalidRequest("the column 'context' must be a list of {path, snippet}")
    return _Snippet(each["path"], each["snippet"])


def _as_comment(snippet: _Snippet, sign: str) -> str:
    return "\n".join([f"{sign} Path: {snippet.path}", *(f"{sign} {line}".rstrip() for line in snippet.text.split("\n"))])


def estimate_tokens(written: str) -> int:
    """About as many as the tokenizer of GPT-2 makes of it, without its vocabulary: a word is one token, a long word several, a
    blank of an indentation one."""
    return sum(1 + max(0, len(piece.strip()) - 1) // _LETTERS_PER_TOKEN for piece in _TOKEN.findall(written))


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    language = _language(options)
    line = first_line(_answer_text(completion), language)
    right = line.split() == text(row, "next_line").split()
    return Trial(
        job=Job(language=language, code=line),
        extracted_code=line,
        extracted_type="heuristic" if line else "empty",
        full_code=line,
        test_code=text(row, "next_line"),
        decided=right,
        note="" if right else f"the next line is {text(row, 'next_line').strip()!r}",
    )


def _answer_text(completion: Completion) -> str:
    blocks = [*fenced_blocks(completion.text), *incomplete_blocks(completion.text)]
    return blocks[0].code if blocks else completion.text


def first_line(written: str, language: str) -> str:
    """The first line that is code: no blank one, no comment, no text that documents."""
    return next(_code_lines(written.split("\n"), language), "")


def _code_lines(lines: list[str], language: str) -> Iterator[str]:
    within = ""
    for line in lines:
        plain = line.strip()
        if within:
            within = "" if within in plain else within
        elif opened := _opening_mark(plain, language):
            within = "" if plain.count(opened) > 1 or _closes(plain, opened) else _closing_mark(opened)
        elif plain and not plain.startswith(_COMMENT[language]):
            yield line


def _opening_mark(plain: str, language: str) -> str:
    marks = ("/*",) if language == "java" else ('"""', "'''")
    return next((mark for mark in marks if plain.startswith(mark)), "")


def _closing_mark(opened: str) -> str:
    return "*/" if opened == "/*" else opened


def _closes(plain: str, opened: str) -> bool:
    return opened == "/*" and "*/" in plain


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    return ((text(row, "next_line"), options),)


REPOBENCH_C = Benchmark(name="RepobenchCDataset", prompts=_completion_prompts, trial=_trial, reference=_reference)
REPOBENCH_P = Benchmark(name="RepobenchPDataset", prompts=_pipeline_prompts, trial=_trial, reference=_reference)
