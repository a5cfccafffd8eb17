"""Tests by inputs: both the solution and the reference are called with each, and what they give is compared."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

from sandbox_runtime.benchmarks.evalplus.typed import literal_calls, restore_types
from sandbox_runtime.benchmarks.functions import headers
from sandbox_runtime.benchmarks.functions.completion import join_prompt
from sandbox_runtime.benchmarks.row_columns import optional_json, optional_text, text
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row

_COMPARISONS: Mapping[str, str] = MappingProxyType(
    {
        "find_zero": "is_zero",
        **dict.fromkeys(("check_str", "text_match_three", "text_starta_endb"), "both_or_none"),
        **dict.fromkeys(
            (
                *("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"),
                *("larg_nnum", "intersection_array", "find_dissimilar", "Diff"),
            ),
            "same_set",
        ),
    }
)
"""Functions whose value may take several forms: a zero of a polynomial, a match or none, elements in any order."""


def tests_by_inputs(row: Row) -> str:
    name, reference = text(row, "entry_point"), text(row, "canonical_solution")
    prompt = text(row, "prompt")
    if f"def {name}" not in reference:
        reference = join_prompt(prompt, reference)
    atol = row.get("atol") or 0
    if isinstance(atol, bool) or not isinstance(atol, int | float):
        raise InvalidRequest(f"the column 'atol' must be a number, not {atol!r}")
    # The reference has the same lines on top as the solution.
    told = f"{name}, {name!r}, {headers.PYTHON + reference!r}, {_inputs(row)!r}, {atol!r}, _plus_{_COMPARISONS.get(name, 'same')}"
    return f"{_comparison_source()}\nfrom math import inf, nan\n_plus_compare({told})\n"


def _inputs(row: Row) -> list[list[Any]]:
    """Those that came as JSON get the types back that the row's own assertions call the function with."""
    inputs = [*_argument_lists(row, "base_input"), *_argument_lists(row, "plus_input")]
    if not inputs:
        raise InvalidRequest("the row has no inputs: base_input must be a list of lists of arguments")
    examples = literal_calls(optional_text(row, "assertion") or "", text(row, "entry_point"))
    return [_restore_types(arguments, examples) for arguments in inputs]


def _argument_lists(row: Row, name: str) -> list[list[Any]]:
    value = optional_json(row, name) or []
    if not isinstance(value, list) or not all(isinstance(each, list) for each in value):
        raise InvalidRequest(f"the column {name!r} must be a list of lists of arguments")
    return value


def _restore_types(arguments: list[Any], examples: list[list[Any]]) -> list[Any]:
    places = [[example[place] for example in examples if len(example) == len(arguments)] for place in range(len(arguments))]
    return [restore_types(argument, known) for argument, known in zip(arguments, places, strict=True)]


def _comparison_source() -> str:
    return resources.files(f"{__package__}.inside").joinpath("comparison.py").read_text(encoding="utf-8")
