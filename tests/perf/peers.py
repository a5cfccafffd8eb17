"""A tiny server that speaks POST /run_code, as another product might: it runs nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
MEET_WITHIN_S = 60.0
Reply = Callable[[Json], bytes]
"""From the body of a request to the whole answer, head included; empty: hang up."""


def answer(stdout: str = "45\n", status: str = "Success") -> Json:
    return {
        "status": status,
        "message": "",
        "run_result": {"status": "Finished", "return_code": 0, "stdout": stdout, "stderr": ""},
    }


def plain(body: Json, status: str = "200 OK", extra: str = "") -> bytes:
    text = json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{extra}Content-Length: {len(text)}\r\n\r\n".encode() + text


def chunked(body: Json) -> bytes:
    text = json.dumps(body).encode()
    parts = [text[:7], text[7:]]
    pieces = b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\n\r\n"


@dataclass
class Peer:
    """meet: no request is answered before so many were there at once."""

    reply: Reply
    meet: int = 0
    met: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""
    connections: int = 0
    at_once: int = 0
    most_at_once: int = 0
    requests: list[Json] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        length = next(int(line.split(":")[1]) for line in head if line.lower().startswith("content-length"))
        body = json.loads(await reader.readexactly(length))
        self.paths.add(head[0].split()[1])
        self.requests.append(body)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        if self.at_once >= self.meet:
            self.met.set()
        async with asyncio.timeout(MEET_WITHIN_S):
            await self.met.wait()
        await asyncio.sleep(0)
        self.at_once -= 1
        reply = self.reply(body)
        writer.write(reply)
        await writer.drain()
        return bool(reply) and b"Connection: close" not in reply


@asynccontextmanager
async def peer(reply: Reply, meet: int = 0) -> AsyncIterator[Peer]:
    opened = Peer(reply, meet)
    server = await asyncio.start_server(opened.serve, "127.0.0.1", 0)
    opened.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield opened
    finally:
        server.close()
