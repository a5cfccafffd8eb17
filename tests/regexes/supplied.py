"""Where patterns come from that no `re.` call spells out, and how those are used that other modules apply."""

from __future__ import annotations

import re
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from tests.regexes.discovery import ANCHORED, Elsewhere, Supplied

from sandbox_runtime.api.app import DIALECTS
from sandbox_runtime.api.dialect import load_dialect, path_rules
from sandbox_runtime.languages import detection
from sandbox_runtime.mcp.tools import word_filter


def _guessed() -> list[re.Pattern[Any]]:
    return [re.compile(marks, re.MULTILINE) for _, marks in (*detection._SURE, *detection._LIKELY)]


def _filtered() -> list[re.Pattern[Any]]:
    return [re.compile(words, re.MULTILINE) for words, _ in word_filter._PATTERNS["strict"]]


def _prompt_forms() -> list[re.Pattern[Any]]:
    return [re.compile(written) for written in (r"[\w+#.-]{1,40}", r"[0-9a-fA-F-]{36}", r"(?i)time|memory")]


def _function_names() -> list[re.Pattern[Any]]:
    return [re.compile(r"(?<![\w#])(?:f|candidate)\b"), re.compile(r"(?<![\w#])(?:f|candidate)\b\s*(?:\(|\.|->)")]


def _stop_tokens() -> list[re.Pattern[Any]]:
    """Rows bring them; what stopping._pattern lets through has no repetition, so none can be slow."""
    return [re.compile(r"\n\n(?=\S\S\S)|a|b|c|\bdef\b")]


def _guards() -> list[re.Pattern[Any]]:
    """Benchmarks name them as must_match and must_not_match, and are read for them."""
    return []


def _declared_paths() -> list[re.Pattern[Any]]:
    rules = path_rules(load_dialect(name) for name in DIALECTS)
    return [getattr(rules, field.name) for field in fields(rules)]


SUPPLIED: Supplied = MappingProxyType(
    {
        "sandbox_runtime.api.dialect.path_pattern": _declared_paths,
        "sandbox_runtime.benchmarks.cruxeval.placeholders._check_copy": _function_names,
        "sandbox_runtime.judge.extraction.stop_words._compile_pattern": _stop_tokens,
        "sandbox_runtime.judge.integrity.inspection._check_patterns": _guards,
        "sandbox_runtime.languages.detection.detect_language": _guessed,
        "sandbox_runtime.mcp.prompts.arguments.form": _prompt_forms,
        "sandbox_runtime.mcp.tools.word_filter.check_words": _filtered,
    }
)
_PACKAGE_MANAGER_PATTERNS = ("_NPM", "_GO", "_CRATE", "_MAVEN", "_NUGET")
ELSEWHERE: Elsewhere = MappingProxyType(
    {
        "sandbox_runtime.benchmarks.cruxeval.placeholders._BASH_WORD": ANCHORED,
        "sandbox_runtime.benchmarks.cruxeval.placeholders._BASH_WORDS": ANCHORED,
        "sandbox_runtime.languages.reader._PINNED": ANCHORED,
        **{f"sandbox_runtime.languages.packages.package_managers.{name}": ANCHORED for name in _PACKAGE_MANAGER_PATTERNS},
    }
)
