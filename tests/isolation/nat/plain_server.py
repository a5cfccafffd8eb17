"""A program that uses Nat like a server without root. Reads one JSON request per line from standard input.

{"open": pid, "allow": […]} → {"driver": …, "families": […], "resolv_conf": …} or {"error": class, "text": …}
{"close": true} → {}
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.isolation.nat import Nat, NatLink, NatOptions


async def answer(nat: Nat, links: list[NatLink], order: dict[str, Any]) -> dict[str, Any]:
    if order.get("close"):
        for link in links:
            await link.close()
        return {}
    try:
        link = await nat.open(order["open"], "plain", order["allow"])
    except SandboxError as error:
        return {"error": type(error).__name__, "text": str(error)}
    links.append(link)
    return {"driver": link.driver, "families": link.families, "resolv_conf": link.resolv_conf}


async def main(settings: dict[str, Any]) -> None:
    program = settings.pop("program", None)
    links: list[NatLink] = []
    async with Nat(NatOptions(**settings), program=program) as nat:
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await answer(nat, links, json.loads(line))), flush=True)


asyncio.run(main(json.loads(sys.argv[1])))
