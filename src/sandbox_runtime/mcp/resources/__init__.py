"""Resources: files of sandboxes, the configuration, tool schemas, and starter programs.

list() returns the fixed resources and the top-level files of each sandbox, templates() the URIs of all others, read() any of
them. A subscription to a file watches its sandbox until the connection closes or the client unsubscribes.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import mcp_types as types

from sandbox_runtime.errors import NotFound, SandboxError, TooMany
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import SandboxHost
from sandbox_runtime.mcp.resources.addresses import Address, file_uri, parse_uri
from sandbox_runtime.mcp.resources.starters import STARTERS
from sandbox_runtime.mcp.tools.sandboxes import is_sandbox
from sandbox_runtime.mcp.tools.tool import AnyTool

_MAX_SANDBOXES, _MAX_FILES = 20, 200
_MAX_WATCHES = 1000
TEMPLATES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "file://{sandbox_id}/{+path}": ("file", "A file of a sandbox, by its path below /workspace."),
        "config://{path}": ("config", "A section of the configuration: server, sandbox, logging, tools, resources."),
        "schema://{path}": ("schema", "The input and output schema of a tool, by its name."),
        "template://{path}": ("template", "A small starter program, by language."),
    }
)
"""URI templates with name and description."""
Contents = list[types.TextResourceContents | types.BlobResourceContents]
Notify = Callable[[], Awaitable[None]]


class Resources:
    def __init__(self, config: McpConfig, tools: Mapping[str, AnyTool]) -> None:
        self._config = config
        self._tools = tools
        self._watches: dict[tuple[str, str], asyncio.Task[None]] = {}

    def templates(self) -> list[types.ResourceTemplate]:
        return [types.ResourceTemplate(name=name, uri_template=uri, description=text) for uri, (name, text) in TEMPLATES.items()]

    async def list(self, host: SandboxHost) -> list[types.Resource]:
        fixed = [
            *(_resource(f"config://{name}", name, "application/json") for name in McpConfig.model_fields),
            *(_resource(f"schema://{name}", name, "application/schema+json") for name in self._tools),
            *(_resource(f"template://{name}", name, "text/plain") for name in STARTERS),
        ]
        return fixed + [resource async for resource in _files(host)]

    async def read(self, host: SandboxHost, uri: str) -> Contents:
        address = parse_uri(uri)
        if address.scheme == "file":
            raw = await host.read(address.sandbox, address.path, self._config.resources.max_file_size)
            return [_content(uri, address.path, raw)]
        text, kind = self._text(address)
        return [types.TextResourceContents(uri=uri, mime_type=kind, text=text)]

    def _text(self, address: Address) -> tuple[str, str]:
        if address.scheme == "config" and address.path in McpConfig.model_fields:
            return json.dumps(self._config.model_dump(mode="json")[address.path], indent=2), "application/json"
        if address.scheme == "schema" and address.path in self._tools:
            tool = self._tools[address.path]
            schema = {
                "name": tool.name,
                "inputSchema": tool.arguments_model.model_json_schema(),
                "outputSchema": tool.result_model.model_json_schema(),
            }
            return json.dumps(schema, indent=2), "application/schema+json"
        if address.scheme == "template" and address.path in STARTERS:
            return STARTERS[address.path], "text/plain"
        raise NotFound(f"unknown resource {address.scheme}://{address.path[:200]}")

    async def subscribe(self, host: SandboxHost, uri: str, connection: str, notify: Notify) -> None:
        """Call `notify` whenever the resource changes. Resources that never change are accepted too."""
        address = parse_uri(uri)
        if address.scheme != "file":
            self._text(address)
            return
        await host.get(address.sandbox)
        if len(self._watches) >= _MAX_WATCHES:
            raise TooMany(f"the limit of {_MAX_WATCHES} subscriptions is reached; unsubscribe from some first")
        key = (connection, uri)
        if key not in self._watches:
            task = asyncio.create_task(_watch(host, address, notify))
            task.add_done_callback(lambda _done: self._watches.pop(key, None))
            self._watches[key] = task

    def unsubscribe(self, uri: str, connection: str) -> None:
        task = self._watches.get((connection, uri))
        if task is not None:
            task.cancel()

    @contextlib.asynccontextmanager
    async def watch(
        self, host: SandboxHost, uris: Sequence[str], notify: Callable[[str], Awaitable[None]]
    ) -> AsyncIterator[None]:
        """Call `notify` with the URI of each changed file during the block."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_watch(host, address, partial(notify, uri)))
                for uri in uris
                if (address := parse_uri(uri)).scheme == "file"
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def close(self) -> None:
        tasks = list(self._watches.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _watch(host: SandboxHost, address: Address, notify: Notify) -> None:
    """Ends with the sandbox."""
    with contextlib.suppress(SandboxError):
        async for names in host.changes(address.sandbox):
            if address.path in names or "" in names:
                await notify()


async def _files(host: SandboxHost) -> AsyncIterator[types.Resource]:
    left = _MAX_FILES
    sandboxes = [view for view in await host.list() if is_sandbox(view.id) and view.state == "running"]
    for view in sandboxes[-_MAX_SANDBOXES:]:
        try:
            files, _more = await host.files(view.id)
        except SandboxError:  # the sandbox ended meanwhile
            continue
        for file in [file for file in files if not file.is_folder][:left]:
            left -= 1
            yield types.Resource(
                name=file.name, uri=file_uri(view.id, file.name), size=file.size_bytes, mime_type=_kind(file.name)
            )


def _resource(uri: str, name: str, kind: str) -> types.Resource:
    return types.Resource(name=name, uri=uri, mime_type=kind)


def _kind(name: str) -> str:
    return mimetypes.guess_type(name, strict=False)[0] or "application/octet-stream"


def _content(uri: str, name: str, raw: bytes) -> types.TextResourceContents | types.BlobResourceContents:
    try:
        kind = _kind(name)
        return types.TextResourceContents(
            uri=uri, mime_type="text/plain" if kind == "application/octet-stream" else kind, text=raw.decode()
        )
    except UnicodeDecodeError:
        return types.BlobResourceContents(uri=uri, mime_type=_kind(name), blob=base64.b64encode(raw).decode())


__all__ = ["TEMPLATES", "Resources"]
