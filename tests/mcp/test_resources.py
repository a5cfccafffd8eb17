"""Resources and prompts, driven by the official client in the oldest and in the newest way."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import (
    BlobResourceContents,
    PromptReference,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    TextContent,
    TextResourceContents,
)
from tests.mcp.conftest import client_of
from tests.mcp.results import figures

from sandbox_runtime.mcp.prompts.arguments import content, form, length
from sandbox_runtime.mcp.prompts.body import chain, conditional, has_value, is_one_of, merge, text


@pytest.mark.requirement("mcp-3.17", "mcp-3.18")
async def test_files_configuration_schemas_and_templates_are_resources(workspace: Path, port: int) -> None:
    async with client_of("http", workspace, port) as client:
        sandbox = figures(await client.call_tool("create_sandbox", {}))["sandbox_id"]
        await client.call_tool("write_file", {"sandbox_id": sandbox, "path": "a ü.csv", "content": "x,y\n1,2\n"})
        await client.call_tool("write_file", {"sandbox_id": sandbox, "path": "b.bin", "content": "/w==", "encoding": "base64"})
        listed = {resource.name: resource for resource in (await client.list_resources()).resources}
        (csv,) = (await client.read_resource(str(listed["a ü.csv"].uri))).contents
        assert isinstance(csv, TextResourceContents) and (csv.text, csv.mime_type) == ("x,y\n1,2\n", "text/csv")
        (raw,) = (await client.read_resource(f"file://{sandbox}/b.bin")).contents
        assert isinstance(raw, BlobResourceContents) and raw.blob == "/w=="
        (config,) = (await client.read_resource("config://sandbox")).contents
        assert isinstance(config, TextResourceContents) and json.loads(config.text)["max_sandboxes"] == 200
        (schema,) = (await client.read_resource("schema://run_code")).contents
        assert isinstance(schema, TextResourceContents) and "inputSchema" in json.loads(schema.text)
        assert (await client.read_resource("template://rust")).contents
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        assert templates == {"file://{sandbox_id}/{+path}", "config://{path}", "schema://{path}", "template://{path}"}
        for uri, code in ((f"file://{sandbox}/none", -32004), ("config://none", -32004), (f"file://{sandbox}/../../x", -32602)):
            with pytest.raises(Exception) as caught:
                await client.read_resource(uri)
            assert getattr(caught.value, "code", None) == code, uri
        await client.call_tool("terminate_sandbox", {"sandbox_id": sandbox})


async def _changed(client: Client, uri: str, sandbox: str) -> None:
    await client.call_tool("exec_command", {"sandbox_id": sandbox, "command": "bash -c 'echo more >> watched.txt'"})


@pytest.mark.requirement("mcp-3.19")
async def test_a_change_of_a_file_is_told_to_those_who_subscribed(workspace: Path, port: int) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            told.put_nowait(str(message.params.uri))

    async with client_of("ws", workspace, port, mode="legacy", message_handler=on_message) as client:
        sandbox = figures(await client.call_tool("create_sandbox", {}))["sandbox_id"]
        uri = f"file://{sandbox}/watched.txt"
        await client.call_tool("write_file", {"sandbox_id": sandbox, "path": "watched.txt", "content": "once\n"})
        await client.subscribe_resource(uri)
        async with asyncio.timeout(60):
            while told.empty():  # the watch may stand a moment after the answer
                await _changed(client, uri, sandbox)
        assert told.get_nowait() == uri
        await client.unsubscribe_resource(uri)
        await client.call_tool("terminate_sandbox", {"sandbox_id": sandbox})


@pytest.mark.requirement("mcp-3.19")
async def test_the_newest_revision_listens_to_changes(workspace: Path, port: int) -> None:
    async with client_of("http", workspace, port) as client:
        assert client.protocol_version == "2026-07-28"
        sandbox = figures(await client.call_tool("create_sandbox", {}))["sandbox_id"]
        uri = f"file://{sandbox}/watched.txt"
        async with asyncio.timeout(60), client.listen(resource_subscriptions=[uri]) as events:
            listening = asyncio.ensure_future(anext(aiter(events)))
            while not listening.done():
                await _changed(client, uri, sandbox)
            assert getattr(listening.result(), "uri", None) == uri
        await client.call_tool("terminate_sandbox", {"sandbox_id": sandbox})


@pytest.mark.requirement("mcp-3.20")
async def test_prompts_are_filled_in(workspace: Path, port: int) -> None:
    async with client_of("http", workspace, port) as client:
        listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert {"analyse_data_file", "solve_and_test", "fix_failing_code"} < set(listed)
        filled = await client.get_prompt("solve_and_test", {"task": "Add $two numbers", "language": "go"})
        first = filled.messages[0].content
        assert isinstance(first, TextContent) and "Add $two numbers" in first.text and "in go:" in first.text
        both = await client.get_prompt("analyse_and_report", {"path": "a.csv", "report": "r.md"})
        texts = [message.content.text for message in both.messages if isinstance(message.content, TextContent)]
        assert len(texts) == 2 and "a.csv" in texts[0] and "create_sandbox" in texts[0] and "r.md" in texts[1]
        wrong = (
            ("solve_and_test", {}),
            ("solve_and_test", {"task": "x", "colour": "red"}),
            ("solve_and_test", {"task": "x", "language": "two words"}),
            ("make_faster", {"code": "x", "goal": "beauty"}),
            ("analyse_data_file", {"path": "a", "sandbox_id": "none"}),
            ("dance", {}),
        )
        for name, arguments in wrong:
            with pytest.raises(Exception) as caught:
                await client.get_prompt(name, arguments)
            assert getattr(caught.value, "code", None) == -32602


@pytest.mark.requirement("mcp-3.22")
def test_prompts_are_made_of_parts() -> None:
    both = {"a": "1", "b": ""}
    assert chain(text("x $a"), text("y"))(both) == ("x 1", "y")
    assert merge(text("x $a"), conditional(has_value("b"), text("never")), text("y"))(both) == ("x 1\n\ny",)
    assert conditional(is_one_of("a", "1", "2"), text("then"), text("else"))(both) == ("then",)
    assert conditional(is_one_of("a", "2"), text("then"), text("else"))(both) == ("else",)
    assert [length(3, 1)(value) for value in ("abc", " ", "abcd")] == [
        "",
        "has fewer than 1 characters",
        "has more than 3 characters",
    ]
    assert content("yes", "no")("YES") == "" and "yes, no" in content("yes", "no")("maybe")
    assert form(r"\d+", "12")("12") == "" and form(r"\d+", "12")("x") == "is not of the form 12"


@pytest.mark.requirement("mcp-3.23")
async def test_what_is_typed_is_completed(workspace: Path, port: int) -> None:
    files, prompt = ResourceTemplateReference(uri="file://{sandbox_id}/{+path}"), PromptReference(name="analyse_data_file")
    async with client_of("http", workspace, port) as client:
        assert client.server_capabilities is not None and client.server_capabilities.completions is not None
        sandbox = figures(await client.call_tool("create_sandbox", {}))["sandbox_id"]
        for name in ("data/one.csv", "data/two.csv", "date.txt"):
            await client.call_tool("write_file", {"sandbox_id": sandbox, "path": name, "content": "x"})

        async def told(ref: Any, name: str, value: str, **known: str) -> list[str]:
            return (await client.complete(ref, {"name": name, "value": value}, known or None)).completion.values

        assert sandbox in await told(files, "sandbox_id", sandbox[:4])
        assert await told(files, "path", "dat", sandbox_id=sandbox) == ["data/", "date.txt"]
        assert await told(prompt, "path", "data/t", sandbox_id=sandbox) == ["data/two.csv"]
        assert await told(files, "path", "", sandbox_id="none") == await told(files, "path", "../x", sandbox_id=sandbox) == []
        assert await told(ResourceTemplateReference(uri="schema://{path}"), "path", "run_c") == [
            "run_code",
            "run_cpp",
            "run_csharp",
        ]
        assert await told(PromptReference(name="port_code"), "target", "ja") == ["javascript", "java"]
        for ref, name in (
            (PromptReference(name="dance"), "x"),
            (prompt, "colour"),
            (ResourceTemplateReference(uri="x://"), "path"),
        ):
            with pytest.raises(Exception) as caught:
                await told(ref, name, "")
            assert getattr(caught.value, "code", None) == -32602
        await client.call_tool("terminate_sandbox", {"sandbox_id": sandbox})
