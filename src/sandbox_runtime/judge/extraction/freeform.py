"""Extract code from free-form answers: choose blocks, join them and remove what conflicts with the tests.

Two versions with the same options. The first works on whole blocks; the second also repairs malformed fences and removes main
functions and wrappers.
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
    first_block_only: bool
    """Take the first block; else all, joined by a blank line."""
    is_fewshot_task: bool
    """Ignore blocks after the first one in the language or without one: there the model invents further questions."""
    exactly_match: bool
    """Take only blocks that name the language."""
    code_block_idx: int | None
    """Take the block of this number."""
    remove_asserts: bool
    """Remove unindented assertions."""
    inner_function_only: bool
    """Take the first static method of a class (csharp, java)."""
    no_removal: bool
    """Remove nothing."""
    is_ut: bool
    """The code is a test itself: keep its main part."""
    entry_point: str | None
    """Of several blocks, take those that name it."""
    declaration: str | None
    """Put before code that does not name the entry point, because the model wrote only the body."""


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
    """Extract from closed fences, else from an unclosed one, else from text that looks like code."""
    chosen = _Options(**options)
    return _to_extracted(_blocks(text, language, chosen), language, chosen, trim.STEPS_V1)


def freeform_v2(text: str, language: str, **options: Unpack[FreeformOptions]) -> ExtractedCode:
    """Version 2. For Verilog: the body of the module, or the whole text if there is no block."""
    chosen = _Options(**options)
    text = trim.without_carriage_returns(text)
    blocks = _blocks(_EMPTY_DOUBLE_FENCE.sub("", text), language, chosen)
    if language == "verilog":
        return _verilog(blocks, text)
    return _to_extracted(blocks, language, chosen, trim.STEPS_V2)


def _blocks(text: str, language: str, options: _Options) -> list[Block]:
    blocks = [_with_first_line_language(block) for block in fenced_blocks(text) or incomplete_blocks(text)]
    if not blocks:
        return heuristic_blocks(text, language)
    if options.is_fewshot_task:
        blocks = _up_to_first(blocks, language)
    blocks = _in_language(blocks, language, options.exactly_match)
    if options.entry_point and len(blocks) > 1:
        blocks = [block for block in blocks if options.entry_point in block.code] or blocks
    if options.code_block_idx is not None:
        return [blocks[options.code_block_idx]] if -len(blocks) <= options.code_block_idx < len(blocks) else []
    return blocks[:1] if options.first_block_only else blocks


def _with_first_line_language(block: Block) -> Block:
    """Read the language from the first line of the block if it is not after the fence."""
    first, _, rest = block.code.partition("\n")
    named = fence_language(first.strip()) if rest and not block.language else ""
    return Block(block.priority, named, rest) if named else block


def _up_to_first(blocks: list[Block], language: str) -> list[Block]:
    meant = (number for number, block in enumerate(blocks) if not block.language or same_language(block.language, language))
    return blocks[: next(meant, len(blocks)) + 1]


def _in_language(blocks: list[Block], language: str, exactly: bool) -> list[Block]:
    """Return the blocks that name the language, else those without one, else all."""
    named = [block for block in blocks if same_language(block.language, language)]
    return named if named or exactly else [block for block in blocks if not block.language] or blocks


def _to_extracted(blocks: list[Block], language: str, options: _Options, steps: trim.Steps) -> ExtractedCode:
    if not blocks:
        return EMPTY
    code = trim.without_carriage_returns("\n\n".join(block.code for block in blocks))
    if not options.no_removal:
        code = _trim(code, language, options, steps)
    if options.declaration and options.entry_point and options.entry_point not in code:
        code = f"{options.declaration}\n{code}"
    return ExtractedCode(code, block_kind(blocks[0]))


def _trim(code: str, language: str, options: _Options, steps: trim.Steps) -> str:
    for step in () if options.is_ut else steps.get(language, ()):
        code = step(code)
    if options.inner_function_only and language in _METHOD_LANGUAGES:
        code = trim.first_static_method(code)
    code = trim.without_example_usage(code)
    return trim.without_assertions(code) if options.remove_asserts else code


def _verilog(blocks: list[Block], text: str) -> ExtractedCode:
    if blocks:
        return ExtractedCode(module_body(blocks[0].code), block_kind(blocks[0]))
    return ExtractedCode(module_body(text), "heuristic" if text.strip() else "empty")
