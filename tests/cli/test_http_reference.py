"""The generated pages about HTTP: every route, every model, and links that lead somewhere."""

from __future__ import annotations

import re

import pytest

from sandbox_runtime.api.app import openapi_document
from sandbox_runtime.cli.http_reference import INTERFACES, http_pages, interface_of, operations
from sandbox_runtime.cli.schema_text import default_text, type_text


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return http_pages()


def test_every_route_is_on_the_page_of_its_door_with_a_sentence_about_it(pages: dict[str, str]) -> None:
    for method, path, said in operations(openapi_document()):
        text = pages[f"http/{interface_of(path).file}.md"]
        _, found, rest = text.partition(f"\n### {method} {path}\n")
        assert found and said.get("description"), f"{method} {path} says nothing of itself: give it a docstring"
        assert rest.startswith(said["description"])


def test_every_door_has_routes_and_every_link_to_a_model_leads_to_it(pages: dict[str, str]) -> None:
    assert len(pages) == len(INTERFACES)
    for name, text in pages.items():
        headings = {line.removeprefix("### ").lower() for line in text.splitlines() if line.startswith("### ")}
        assert headings and set(re.findall(r"\]\(#([^)]+)\)", text)) <= headings, name


def test_a_route_shows_what_it_takes_with_bounds_and_defaults_and_what_it_answers(pages: dict[str, str]) -> None:
    text = pages["http/control-plane.md"]
    route = text.partition("### POST /api/v1/executions/sessions/{session_id}/execute-sync\n")[2].partition("\n### ")[0]
    assert "| `sync_timeout` | query | number, 10 to 3600 | `300` |" in route
    assert "Body: [ExecuteCodeRequest](#executecoderequest)" in route
    assert "| 408 | [ErrorResponse](#errorresponse) |" in route and "| 404 |" in route
    model = text.partition("### ExecuteCodeRequest\n")[2].partition("\n### ")[0]
    assert (
        "| `timeout` | integer, 1 to 3600 | `30` |" in model and "| `code` | string, 1 to 102400 characters | required |" in model
    )
    workspace = pages["http/workspace.md"].partition("### POST /workspace/se/execute/{session_id}\n")[2].partition("\n### ")[0]
    assert (
        "| `command` |" in workspace and "| 400 | [WorkspaceErrorResponse](#workspaceerrorresponse) | INVALID_CODE |" in workspace
    )


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "integer", "minimum": 1}, "integer, at least 1"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}, "number, at most 0.5, above 0"),
        ({"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]}, "string, at most 3 characters or null"),
        (
            {"type": "array", "items": {"$ref": "#/components/schemas/One"}, "maxItems": 2},
            "list of [One](#one), at most 2 entries",
        ),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "object of string"),
        ({"enum": ["a", "b"], "type": "string"}, "`a`, `b`"),
        ({"enum": list(range(20))}, ", ".join(f"`{n}`" for n in range(12)) + " and 8 more"),
        ({"const": "x"}, "`x`"),
        ({"type": "string", "format": "date-time"}, "time, ISO 8601"),
        ({}, "anything"),
    ],
)
def test_a_schema_is_told_in_words(schema: dict[str, object], told: str) -> None:
    assert type_text(schema) == told


def test_what_has_no_default_is_empty_and_what_must_be_given_says_so() -> None:
    assert [default_text({}, True), default_text({}, False), default_text({"default": None}, False)] == ["required", "", "`null`"]
