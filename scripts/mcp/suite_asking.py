"""Tools and prompts of the conformance suite that ask the client: for its user's words, its model's answer, its roots.

The product has none of that kind. They stand on the product's server, so that what its transports do with questions is tried.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter

Context = ServerRequestContext[Any, Any]
Told = types.CallToolResult | types.InputRequiredResult
Act = Callable[[Context, types.CallToolRequestParams], Awaitable[Told]]
Json = dict[str, Any]
AWAY_S = 0.2
_REQUESTS: TypeAdapter[dict[str, types.InputRequest]] = TypeAdapter(types.InputRequests)
_CHOICES = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)]
_PLAIN = ["option1", "option2", "option3"]


def text(said: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)])


def form(**properties: str) -> Json:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": [*properties],
    }


# Up to 2025-11-25: the server sends a request of its own and waits for the answer.


async def sampling(context: Context, params: types.CallToolRequestParams) -> Told:
    said = types.TextContent(type="text", text=str((params.arguments or {})["prompt"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the newest revision calls asking the client's model deprecated
        asking = context.session.create_message(
            [types.SamplingMessage(role="user", content=said)], max_tokens=100, related_request_id=context.request_id
        )
    return text(f"LLM response: {getattr((await asking).content, 'text', '')}")


async def _elicited(context: Context, message: str, schema: Json) -> types.ElicitResult:
    return await context.session.elicit_form(message, schema, context.request_id)


async def elicitation(context: Context, params: types.CallToolRequestParams) -> Told:
    message = str((params.arguments or {})["message"])
    answer = await _elicited(context, message, form(username="string", email="string"))
    return text(f"User response: <action: {answer.action}, content: {json.dumps(answer.content)}>")


async def defaults(context: Context, _params: types.CallToolRequestParams) -> Told:
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    answer = await _elicited(context, "Check these", {"type": "object", "properties": properties})
    return text(f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}")


async def choices(context: Context, _params: types.CallToolRequestParams) -> Told:
    properties = {
        "untitledSingle": {"type": "string", "enum": _PLAIN},
        "titledSingle": {"type": "string", "oneOf": _CHOICES},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _PLAIN}},
        "titledMulti": {"type": "array", "items": {"anyOf": _CHOICES}},
    }
    answer = await _elicited(context, "Choose", {"type": "object", "properties": properties})
    return text(f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}")


async def reconnection(context: Context, _params: types.CallToolRequestParams) -> Told:
    """Its stream is closed before it answers: the client has to come back for the answer."""
    if context.close_sse_stream is not None:
        await context.close_sse_stream()
    await asyncio.sleep(AWAY_S)
    return text("Reconnection test completed successfully")


# From 2026-07-28: the answer of a call is what is still needed, and the call comes again with it.


def eliciting(message: str, **properties: str) -> Json:
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": form(**properties)}}


def prompting(said: str, most: int) -> Json:
    message = {"role": "user", "content": {"type": "text", "text": said}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": most}}


NAME = eliciting("What is your name?", name="string")
ROOTS: Json = {"method": "roots/list", "params": {}}


def needed(requests: Mapping[str, Json], state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=_REQUESTS.validate_python(dict(requests)), request_state=state)


def answers(params: types.InputResponseRequestParams, requests: Mapping[str, Json]) -> Json | None:
    """What was asked for, each as JSON; None as long as something of it is missing or is no answer to its question."""
    given = params.input_responses or {}
    found = {name: given[name].model_dump(mode="json", by_alias=True) for name in requests if name in given}
    marks = {"elicitation/create": "action", "sampling/createMessage": "role", "roots/list": "roots"}
    complete = all(marks[asked["method"]] in found.get(name, {}) for name, asked in requests.items())
    return found if complete else None


def asks(requests: Mapping[str, Json], state: str | None = None, told: str = "") -> Act:
    """A tool that wants these, and tells them in its answer."""

    async def act(_context: Context, params: types.CallToolRequestParams) -> Told:
        found = answers(params, requests)
        if found is None or (state is not None and params.request_state != state):
            return needed(requests, state)
        return text(f"{told} {json.dumps(found)}".strip())

    return act


async def rounds(_context: Context, params: types.CallToolRequestParams) -> Told:
    first = {"step1": eliciting("Step 1: What is your name?", name="string")}
    second = {"step2": eliciting("Step 2: What is your favorite color?", color="string")}
    if params.request_state == "second":
        return needed(second, "second") if answers(params, second) is None else text(json.dumps(answers(params, second)))
    if params.request_state == "first" and answers(params, first) is not None:
        return needed(second, "second")
    return needed(first, "first")


async def what_the_client_can(context: Context, _params: types.CallToolRequestParams) -> Told:
    can = context.session.client_capabilities or types.ClientCapabilities()
    possible = {"name": (can.elicitation, NAME), "greeting": (can.sampling, prompting("Greet", 50)), "roots": (can.roots, ROOTS)}
    return needed({name: asked for name, (able, asked) in possible.items() if able is not None}, "asked")


async def missing_capability(context: Context, _params: types.CallToolRequestParams) -> Told:
    wanted = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not context.session.check_client_capability(wanted):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=wanted)
        told = data.model_dump(mode="json", by_alias=True, exclude_none=True)
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "the client's model is needed", told)
    return text("the client's model could be asked")


async def prompt(params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    asked = {"user_context": eliciting("What context should the prompt use?", context="string")}
    found = answers(params, asked)
    if found is None:
        return needed(asked)
    said = types.TextContent(type="text", text=f"In this context: {json.dumps(found)}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said)])


_CONFIRM = {"confirm": eliciting("Please confirm", ok="boolean")}
_ALL = {"user_name": NAME, "greeting": prompting("Generate a greeting", 50), "client_roots": ROOTS}
TOOLS: Mapping[str, tuple[Act, Json]] = {
    "test_sampling": (sampling, form(prompt="string")),
    "test_elicitation": (elicitation, form(message="string")),
    "test_reconnection": (reconnection, form()),
    "test_elicitation_sep1034_defaults": (defaults, form()),
    "test_elicitation_sep1330_enums": (choices, form()),
    "test_input_required_result_elicitation": (asks({"user_name": NAME}), form()),
    "test_input_required_result_sampling": (asks({"capital_question": prompting("What is the capital of France?", 100)}), form()),
    "test_input_required_result_list_roots": (asks({"client_roots": ROOTS}), form()),
    "test_input_required_result_request_state": (asks(_CONFIRM, "asked", "state-ok"), form()),
    "test_input_required_result_multiple_inputs": (asks(_ALL, "asked"), form()),
    "test_input_required_result_multi_round": (rounds, form()),
    "test_input_required_result_tampered_state": (asks(_CONFIRM, "asked"), form()),
    "test_input_required_result_capabilities": (what_the_client_can, form()),
    "test_streaming_elicitation": (asks({"user_name": NAME}), form()),
    "test_missing_capability": (missing_capability, form()),
}
