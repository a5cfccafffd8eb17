"""A real Chromium, driven over a pipe with its debugging protocol: no driver program, port or package needed."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
ANSWER_WITHIN_S = 60.0


class Browser:
    """One page. `requested` lists the URLs it loaded, `complaints` the messages of its console and its policy."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.WriteTransport) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session: str | None = None
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self.dialogs = 0

    async def begin(self) -> None:
        target = await self.send("Target.createTarget", url="about:blank")
        attached = await self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            await self.send(f"{domain}.enable")

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._writer.write(json.dumps(message).encode() + b"\0")
        async with asyncio.timeout(ANSWER_WITHIN_S):
            return await answer

    async def listen(self) -> None:
        while True:
            message = json.loads((await self._reader.readuntil(b"\0"))[:-1])
            if "id" in message:
                self._waiting.pop(message["id"]).set_result(message.get("result", message))
            else:
                self._heard(message["method"], message["params"])

    def _heard(self, method: str, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif method == "Page.javascriptDialogOpening":
            self.dialogs += 1

    async def open(self, url: str) -> None:
        await self.send("Page.navigate", url=url)
        await self.until("document.readyState === 'complete'")

    async def value(self, expression: str) -> Any:
        answer = await self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, expression: str) -> None:
        async with asyncio.timeout(ANSWER_WITHIN_S):
            while not await self.value(f"Boolean({expression})"):
                await asyncio.sleep(0.05)

    async def text_of(self, selector: str) -> str:
        return str(await self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))


@asynccontextmanager
async def browsing(profile: Path) -> AsyncIterator[Browser]:
    command = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if command is None:
        pytest.skip("there is no Chromium here: apt install chromium")
    orders_out, orders_in = os.pipe()
    answers_out, answers_in = os.pipe()
    wrapped = f'exec "$@" 3<&{orders_out} 4>&{answers_in}'
    process = await asyncio.create_subprocess_exec(
        "/bin/bash", "-c", wrapped, "browser", command, *FLAGS, f"--user-data-dir={profile}",
        pass_fds=(orders_out, answers_in), stderr=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    os.close(orders_out)
    os.close(answers_in)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
    incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(answers_out, "rb"))
    outgoing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(orders_in, "wb"))
    browser = Browser(reader, outgoing)
    listening = asyncio.create_task(browser.listen())
    try:
        await browser.begin()
        yield browser
    finally:
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError, asyncio.IncompleteReadError):
            await listening
        outgoing.close()
        incoming.close()
        if process.returncode is None:
            process.kill()
        await process.wait()
