"""The generated HTTP reference: one page per interface with its routes, parameters, bodies and responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.api.app import openapi_document
from sandbox_runtime.cli.schema_text import Schema, default_text, link_to, ref_name, references, type_text

_GENERATED = "This page is generated from the code by `sandbox docs --write`."
_EVERYWHERE = """If the server requires keys ([access](../../guides/keys.md)), every route but the health routes takes one, as
`Authorization: Bearer KEY` or `X-API-Key: KEY`. A missing key is 401, a key without permission 403, a key over its rate limit 429
with `Retry-After`. A body that is too large is 413."""
_FRAMEWORK_MODELS = ("HTTPValidationError", "ValidationError")
_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class HttpInterface:
    file: str
    title: str
    about: str
    prefixes: tuple[str, ...]
    """Path prefixes; the first interface with a matching prefix owns the path."""


INTERFACES = (
    HttpInterface(
        "judge",
        "HTTP: judging in batches",
        "Judge many completions in the background.",
        ("/api/v1/judge/",),
    ),
    HttpInterface(
        "sandboxes",
        "HTTP: sandboxes",
        "Sandboxes, their files, executions and tools. The same routes exist below `/api/v1` and `/api`, without those for\n"
        "batches, logs and metrics. Errors have the schema [SandboxErrorResponse](#sandboxerrorresponse). Guide:\n"
        "[the sandbox API](../../guides/sandbox-api.md).",
        ("/api/v2/",),
    ),
    HttpInterface(
        "control-plane",
        "HTTP: the control plane",
        "Sessions, executions, templates, files and nodes. Errors have the schema [ErrorResponse](#errorresponse):\n"
        "400 invalid request, 404 missing or owned by someone else, 409 conflict with the current state, 429 with `Retry-After`\n"
        "over a limit, 500 server error, 501 not available on this server. Every response has `X-Request-ID` and\n"
        "`X-Process-Time`. Guide: [sessions](../../guides/sessions.md).",
        ("/api/v1/", "/runtime/", "/internal/"),
    ),
    HttpInterface(
        "workspace",
        "HTTP: workspaces",
        "Sessions named by the caller. Responses have both forms of the protocol: `success`, `data` and `error`, and the fields\n"
        "of `data` at the top level. Each status lists its error codes.",
        ("/workspace/se/", "/v2/"),
    ),
    HttpInterface(
        "fusion",
        "HTTP: running and judging programs",
        "Run a program or a notebook, or judge a completion, in one request, each in a new box. A platform failure is not an\n"
        "HTTP error but the status `SandboxError` in the response. An invalid request is 422; 504 means overloaded: retry.",
        ("/run_", "/list_", "/get_", "/submit"),
    ),
    HttpInterface("general", "HTTP: the server itself", "Health, metrics, languages and version of the server.", ("/",)),
)


def http_pages() -> dict[str, str]:
    """Return the pages by file name."""
    openapi = openapi_document()
    return {f"http/{interface.file}.md": _page(interface, openapi) for interface in INTERFACES}


def interface_of(path: str) -> HttpInterface:
    return next(interface for interface in INTERFACES if path.startswith(interface.prefixes))


def operations(openapi: Schema) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield method, path and OpenAPI operation of each route."""
    for path, methods in openapi["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield method.upper(), path, methods[method]


def _page(interface: HttpInterface, openapi: Schema) -> str:
    own = [(method, path, operation) for method, path, operation in operations(openapi) if interface_of(path) is interface]
    sections: dict[str, list[str]] = {}
    for method, path, operation in own:
        sections.setdefault((operation.get("tags") or [""])[0], []).append(_route(method, path, operation))
    page = f"# {interface.title}\n\n{_GENERATED}\n\n{interface.about}\n\n{_EVERYWHERE}\n"
    for tag, routes in sections.items():
        page += (f"\n## {tag.capitalize()}\n" if tag and len(sections) > 1 else "") + "".join(routes)
    return page + _models([operation for _, _, operation in own], openapi)


def _route(method: str, path: str, operation: Schema) -> str:
    parts = [
        f"\n### {method} {path}\n{operation.get('description') or operation['summary']}\n",
        _parameters(operation.get("parameters", [])),
    ]
    parts += [_body(form, content["schema"]) for form, content in operation.get("requestBody", {}).get("content", {}).items()]
    return "".join([*parts, _responses(operation["responses"])])


def _parameters(parameters: list[Schema]) -> str:
    rows = "".join(_parameter(parameter) for parameter in parameters)
    return "\n| parameter | in | type | default | |\n|---|---|---|---|---|\n" + rows if rows else ""


def _parameter(parameter: Schema) -> str:
    schema, description = parameter["schema"], _one_line(parameter.get("description", ""))
    default = default_text(schema, parameter.get("required", False))
    return f"| `{parameter['name']}` | {parameter['in']} | {type_text(schema)} | {default} | {description} |\n"


def _body(form: str, schema: Schema) -> str:
    if "$ref" in schema:
        return f"\nBody: {link_to(schema['$ref'])}\n"
    if "properties" not in schema:
        return f"\nBody ({form}): {type_text(schema)}\n"
    about = f" {_one_line(schema['description'])}" if "description" in schema else ""
    return f"\nBody ({form}).{about}\n" + _fields(schema)


def _responses(responses: Mapping[str, Schema]) -> str:
    """Return the table of responses. The default response is described at the top of the page."""
    listed = sorted((str(status), response) for status, response in responses.items() if status != "default")
    rows = "".join(f"| {status} | {_response_type(response)} | {_response_text(response)} |\n" for status, response in listed)
    return "\n| status | body | |\n|---|---|---|\n" + rows


def _response_type(response: Schema) -> str:
    kinds = []
    for form, content in response.get("content", {}).items():
        schema = content.get("schema", {})
        known = form == "application/json" and schema and not schema.get("$ref", "").endswith(_FRAMEWORK_MODELS)
        kinds.append(type_text(schema) if known else "" if form == "application/json" else form)
    return ", ".join(kind for kind in kinds if kind)


def _response_text(response: Schema) -> str:
    text = _one_line(response.get("description", ""))
    if text == "Validation Error":
        return "Invalid request; `detail` lists the fields"
    return "" if text == "Successful Response" else text


def _models(own: list[Mapping[str, Any]], openapi: Schema) -> str:
    """Return all models that the operations refer to, directly or not, sorted by name."""
    known: dict[str, Schema] = dict(openapi.get("components", {}).get("schemas", {}))
    for operation in own:
        known.update(_nested(operation))
    pending, used = [ref_name(reference) for reference in references(own)], set()
    while pending:
        name = pending.pop()
        if name not in used and name in known and name not in _FRAMEWORK_MODELS:
            used.add(name)
            pending += [ref_name(reference) for reference in references(known[name])]
    text = "".join(_model(name, known[name]) for name in sorted(used))
    return f"\n## Models\n{text}" if text else ""


def _nested(schema: Any) -> dict[str, Schema]:
    """Return models defined inside a body ($defs) instead of in the components."""
    if isinstance(schema, list):
        return {name: model for value in schema for name, model in _nested(value).items()}
    if not isinstance(schema, Mapping):
        return {}
    own = dict(schema.get("$defs", {}))
    return own | {name: model for value in schema.values() for name, model in _nested(value).items()}


def _model(name: str, schema: Schema) -> str:
    about = f"{schema['description']}\n" if "description" in schema else ""
    if "properties" not in schema:
        return f"\n### {name}\n{about}{type_text(schema)}\n"
    return f"\n### {name}\n{about}{_fields(schema)}"


def _fields(schema: Schema) -> str:
    required = schema.get("required", ())
    rows = "".join(_field(name, field, name in required) for name, field in schema["properties"].items())
    return "\n| field | type | default | |\n|---|---|---|---|\n" + rows


def _field(name: str, schema: Schema, required: bool) -> str:
    description = _one_line(schema.get("description", ""))
    return f"| `{name}` | {type_text(schema)} | {default_text(schema, required)} | {description} |\n"


def _one_line(text: str) -> str:
    """Return the text as one table cell."""
    return " ".join(text.split()).replace("|", "\\|")
