"""The two ways to take the steps of a call: blocking, and in an event loop."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any, TypeVar

import httpx

from sandbox_runtime.sdk.endpoints import api_key
from sandbox_runtime.sdk.exchange import Call, Exchange, Pause, Reply, Send

Result = TypeVar("Result")


def drive(call: Call[Result]) -> Result:
    exchange = Exchange(call)
    with httpx.Client(**_options(call)) as client:
        while step := exchange.next_step():
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                continue
            try:
                reply = _reply(client.post(step.url, **_content(step)))
            except httpx.TransportError as error:
                reply = _failure(error)
            exchange.take(reply)
    return exchange.result


async def drive_async(call: Call[Result]) -> Result:
    exchange = Exchange(call)
    async with httpx.AsyncClient(**_options(call)) as client:
        while step := exchange.next_step():
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                continue
            try:
                reply = _reply(await client.post(step.url, **_content(step)))
            except httpx.TransportError as error:
                reply = _failure(error)
            exchange.take(reply)
    return exchange.result


def _options(call: Call[Any]) -> dict[str, Any]:
    """Certificates are loaded only where they are needed: that takes longer than a run does."""
    headers = {"Authorization": f"Bearer {api_key()}"} if api_key() else {}
    return {"timeout": call.client_timeout, "verify": call.url.startswith("https://"), "headers": headers}


def _content(step: Send) -> dict[str, Any]:
    return {"content": step.body, "headers": {"Content-Type": "application/json"}}


def _reply(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.content, _seconds(response.headers.get("Retry-After", "")))


def _failure(error: httpx.TransportError) -> Reply:
    """After its own time limit a call is not made again: the run was stopped with it, and would be as slow the next time."""
    if isinstance(error, httpx.TimeoutException):
        return Reply(failure="no answer within client_timeout")
    return Reply(failure=f"cannot be reached: {str(error) or type(error).__name__}", again=True)


def _seconds(text: str) -> float:
    """0 for what is no number: dates are allowed in that header, but our servers send none."""
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
