"""The generated pages about HTTP, one for each door: every route with what it takes and what it answers. Pure: the same on every
machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.api.app import openapi_document
from sandbox_runtime.cli.schema_text import Schema, default_of, kind_of, link_to, name_of, references

_MADE = "This page is made from the code by `sandbox docs --write`."
_EVERYWHERE = """Where keys are asked for ([access](../../guides/keys.md)), every route but those about health takes one, as
`Authorization: Bearer KEY` or `X-API-Key: KEY`; without it the answer is 401, with one that may not do this 403, with one that
asks too often 429 and `Retry-After`. A body that is too large is 413."""
_FRAMEWORKS_OWN = ("HTTPValidationError", "ValidationError")
_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Door:
    """prefixes: which paths are its own; the first door that has one takes it."""

    file: str
    title: str
    about: str
    prefixes: tuple[str, ...]


DOORS = (
    Door(
        "judge",
        "HTTP: judging in batches",
        "Completions by the thousand, judged in the background.",
        ("/api/v1/judge/",),
    ),
    Door(
        "sandboxes",
        "HTTP: sandboxes",
        "Sandboxes, their files, what runs in them, and tools. The same routes are below `/api/v1` and `/api`, without those of\n"
        "batches, logs and metrics. Errors have the shape of [SandboxErrorResponse](#sandboxerrorresponse). How it is used:\n"
        "[the sandbox API](../../guides/sandbox-api.md).",
        ("/api/v2/",),
    ),
    Door(
        "control-plane",
        "HTTP: the control plane",
        "Sessions, executions, templates, files and nodes. Errors have the shape of [ErrorResponse](#errorresponse): 400 for an\n"
        "invalid request, 404 for what does not exist or belongs to another owner, 409 for a conflict with the current state,\n"
        "429 with `Retry-After` for an exceeded limit, 500 for an internal error, 501 for what this server does not support.\n"
        "Every response has `X-Request-ID` and `X-Process-Time`. See the guide [sessions](../../guides/sessions.md).",
        ("/api/v1/", "/runtime/", "/internal/"),
    ),
    Door(
        "workspace",
        "HTTP: workspaces",
        "Sessions by a name of the caller's, with answers in both shapes of the protocol at once: `success`, `data` and\n"
        "`error`, and the fields of `data` beside them. The codes that an error may have stand with each status.",
        ("/workspace/se/", "/v2/"),
    ),
    Door(
        "fusion",
        "HTTP: running and judging programs",
        "A program, a notebook or a completion in one request, each in a fresh box. What fails on our side is no HTTP error but\n"
        "the status `SandboxError` in the answer; a wrong request is 422, and 504 says that the server is busy: try again.",
        ("/run_", "/list_", "/get_", "/submit"),
    ),
    Door("general", "HTTP: the server itself", "What the server is and how it does.", ("/",)),
)


def http_pages() -> dict[str, str]:
    """File name → text."""
    found = openapi_document()
    return {f"http/{door.file}.md": _page(door, found) for door in DOORS}


def door_of(path: str) -> Door:
    return next(door for door in DOORS if path.startswith(door.prefixes))


def operations(found: Schema) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Method, path, and what is said of it."""
    for path, methods in found["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield method.upper(), path, methods[method]


def _page(door: Door, found: Schema) -> str:
    own = [(method, path, said) for method, path, said in operations(found) if door_of(path) is door]
    sections: dict[str, list[str]] = {}
    for method, path, said in own:
        sections.setdefault((said.get("tags") or [""])[0], []).append(_route(method, path, said))
    whole = f"# {door.title}\n\n{_MADE}\n\n{door.about}\n\n{_EVERYWHERE}\n"
    for tag, routes in sections.items():
        whole += (f"\n## {tag.capitalize()}\n" if tag and len(sections) > 1 else "") + "".join(routes)
    return whole + _models([said for _, _, said in own], found)


def _route(method: str, path: str, said: Schema) -> str:
    parts = [f"\n### {method} {path}\n{said.get('description') or said['summary']}\n", _parameters(said.get("parameters", []))]
    parts += [_body(form, content["schema"]) for form, content in said.get("requestBody", {}).get("content", {}).items()]
    return "".join([*parts, _answers(said["responses"])])


def _parameters(parameters: list[Schema]) -> str:
    rows = [
        f"| `{one['name']}` | {one['in']} | {kind_of(one['schema'])} | {default_of(one['schema'], one.get('required', False))} "
        f"| {_line(one.get('description', ''))} |\n"
        for one in parameters
    ]
    return "\n| parameter | in | type | default | |\n|---|---|---|---|---|\n" + "".join(rows) if rows else ""


def _body(form: str, schema: Schema) -> str:
    if "$ref" in schema:
        return f"\nBody: {link_to(schema['$ref'])}\n"
    if "properties" not in schema:
        return f"\nBody ({form}): {kind_of(schema)}\n"
    about = f" {_line(schema['description'])}" if "description" in schema else ""
    return f"\nBody ({form}).{about}\n" + _fields(schema)


def _answers(responses: Mapping[str, Schema]) -> str:
    """What every route may answer stands at the top of the page."""
    told = sorted((str(status), said) for status, said in responses.items() if status != "default")
    rows = "".join(f"| {status} | {_returned(said)} | {_said(said)} |\n" for status, said in told)
    return "\n| answer | body | |\n|---|---|---|\n" + rows


def _returned(said: Schema) -> str:
    kinds = []
    for form, content in said.get("content", {}).items():
        schema = content.get("schema", {})
        known = form == "application/json" and schema and not schema.get("$ref", "").endswith(_FRAMEWORKS_OWN)
        kinds.append(kind_of(schema) if known else "" if form == "application/json" else form)
    return ", ".join(kind for kind in kinds if kind)


def _said(said: Schema) -> str:
    text = _line(said.get("description", ""))
    if text == "Validation Error":
        return "The request does not fit; `detail` names the fields"
    return "" if text == "Successful Response" else text


def _models(said: list[Mapping[str, Any]], found: Schema) -> str:
    """Those that the routes name, and those that these name, by name."""
    known: dict[str, Schema] = dict(found.get("components", {}).get("schemas", {}))
    for one in said:
        known.update(_nested(one))
    waiting, wanted = [name_of(reference) for reference in references(said)], set()
    while waiting:
        name = waiting.pop()
        if name not in wanted and name in known and name not in _FRAMEWORKS_OWN:
            wanted.add(name)
            waiting += [name_of(reference) for reference in references(known[name])]
    text = "".join(_model(name, known[name]) for name in sorted(wanted))
    return f"\n## Models\n{text}" if text else ""


def _nested(schema: Any) -> dict[str, Schema]:
    """Models that are written into a body rather than beside it."""
    if isinstance(schema, list):
        return {name: one for value in schema for name, one in _nested(value).items()}
    if not isinstance(schema, Mapping):
        return {}
    here = dict(schema.get("$defs", {}))
    return here | {name: one for value in schema.values() for name, one in _nested(value).items()}


def _model(name: str, schema: Schema) -> str:
    about = f"{schema['description']}\n" if "description" in schema else ""
    if "properties" not in schema:
        return f"\n### {name}\n{about}{kind_of(schema)}\n"
    return f"\n### {name}\n{about}{_fields(schema)}"


def _fields(schema: Schema) -> str:
    required = schema.get("required", ())
    rows = "".join(
        f"| `{name}` | {kind_of(one)} | {default_of(one, name in required)} | {_line(one.get('description', ''))} |\n"
        for name, one in schema["properties"].items()
    )
    return "\n| field | type | default | |\n|---|---|---|---|\n" + rows


def _line(text: str) -> str:
    """On one line, and with nothing that ends a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
