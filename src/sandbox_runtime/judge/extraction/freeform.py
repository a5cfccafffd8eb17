"""Code in an answer that is free in its form: blocks are picked, joined and rid of what would be in the tests' way.

Two forms, with the same options. The first knows whole blocks; the second also mends how models get fences wrong and takes main
functions and wrappers apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypedDict, Unpack

from sandbox_runtime.judge.extraction import trim
from sandbox_runtime.judge.extraction.default import EMPTY, ExtractedCode, block_kind
from sandbox_runtime.judge.extraction.fences import fenced_blocks, incomplete_blocks
from sandbox_runtime.judge.extraction.heuristics import heuristic_blocks
from sandbox_runtime.judge.extraction.languages import fence_language, same_language
from sandbox_runtime.judge.extraction.verilog import module_body
from sandbox_runtime.model.judge import Block

_METHOD_LANGUAGES = ("csharp", "java")
_EMPTY_DOUBLE_FENCE = re.compile(r"(?m)^```[ \t]*\n(?=```[^\s`])")


class FreeformOptions(TypedDict, total=False):
    """first_block_only: the first block; else all, joined by a blank line. is_fewshot_task: none behind the first in the language
    or in none: what follows is the model going on with questions of its own. exactly_match: only blocks that name the language.
    code_block_idx: the block of this number. remove_asserts: without assertions at the left edge. inner_function_only: the first
    static method of a class (csharp, java). no_removal: take nothing off. is_ut: the code is a test of its own, whose main part
    stays. entry_point: where several blocks could be meant, those that name it. declaration: put in front of code that does not
    name the entry point, because the model went on with the body alone."""

    first_block_only: bool
    is_fewshot_task: bool
    exactly_match: bool
    code_block_idx: int | None
    remove_asserts: bool
    inner_function_only: bool
    no_removal: bool
    is_ut: bool
    entry_point: str | None
    declaration: str | None


@dataclass(frozen=True, slots=True)
class _Options:
    first_block_only: bool = False
    is_fewshot_task: bool = False
    exactly_match: bool = False
    code_block_idx: int | None = None
    remove_asserts: bool = False
    inner_function_only: bool = False
    no_removal: bool = False
    is_ut: bool = False
    entry_point: str | None = None
    declaration: str | None = None


def freeform(text: str, language: str, **options: Unpack[FreeformOptions]) -> ExtractedCode:
    """Closed fences, else one that was left open, else what looks like code."""
    choice = _Options(**options)
    return _to_extracted(_blocks(text, language, choice), language, choice, trim.STEPS_V1)


def freeform_v2(text: str, language: str, **options: Unpack[FreeformOptions]) -> ExtractedCode:
    """The second form. Verilog: what stands in the module, or all that was written where there is no block."""
    choice = _Options(**options)
    text = trim.without_carriage_returns(text)
    blocks = _blocks(_EMPTY_DOUBLE_FENCE.sub("", text), language, choice)
    if language == "verilog":
        return _verilog(blocks, text)
    return _to_extracted(blocks, language, choice, trim.STEPS_V2)


def _blocks(text: str, language: str, choice: _Options) -> list[Block]:
    found = [_with_first_line_language(block) for block in fenced_blocks(text) or incomplete_blocks(text)]
    if not found:
        return heuristic_blocks(text, language)
    if choice.is_fewshot_task:
        found = _up_to_first(found, language)
    found = _in_language(found, language, choice.exactly_match)
    if choice.entry_point and len(found) > 1:
        found = [block for block in found if choice.entry_point in block.code] or found
    if choice.code_block_idx is not None:
        return [found[choice.code_block_idx]] if -len(found) <= choice.code_block_idx < len(found) else []
    return found[:1] if choice.first_block_only else found


def _with_first_line_language(block: Block) -> Block:
    """Where the language is not behind the fence but on the first line of the block."""
    first, _, rest = block.code.partition("\n")
    named = fence_language(first.strip()) if rest and not block.language else ""
    return Block(block.priority, named, rest) if named else block


def _up_to_first(blocks: list[Block], language: str) -> list[Block]:
    meant = (number for number, block in enumerate(blocks) if not block.language or same_language(block.language, language))
    return blocks[: next(meant, len(blocks)) + 1]


def _in_language(blocks: list[Block], language: str, exactly: bool) -> list[Block]:
    """Those that name it; where none does, those that name nothing; where all name others, all."""
    named = [block for block in blocks if same_language(block.language, language)]
    return named if named or exactly else [block for block in blocks if not block.language] or blocks


def _to_extracted(blocks: list[Block], language: str, choice: _Options, steps: trim.Steps) -> ExtractedCode:
    if not blocks:
        return EMPTY
    code = trim.without_carriage_returns("\n\n".join(block.code for block in blocks))
    if not choice.no_removal:
        code = _trim(code, language, choice, steps)
    if choice.declaration and choice.entry_point and choice.entry_point not in code:
        code = f"{choice.declaration}\n{code}"
    return ExtractedCode(code, block_kind(blocks[0]))


def _trim(code: str, language: str, choice: _Options, steps: trim.Steps) -> str:
    for step in () if choice.is_ut else steps.get(language, ()):
        code = step(code)
    if choice.inner_function_only and language in _METHOD_LANGUAGES:
        code = trim.first_static_method(code)
    code = trim.without_example_usage(code)
    return trim.without_assertions(code) if choice.remove_asserts else code


def _verilog(blocks: list[Block], text: str) -> ExtractedCode:
    if blocks:
        return ExtractedCode(module_body(blocks[0].code), block_kind(blocks[0]))
    return ExtractedCode(module_body(text), "heuristic" if text.strip() else "empty")
