"""Addresses that open one file for a while, without a key: who makes one vouches for it with a secret that this process alone
has. They end with the process."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from dataclasses import dataclass

from sandbox_runtime.errors import Denied

_LONGEST_TOKEN = 8192


@dataclass(frozen=True, slots=True)
class Ticket:
    session: str
    owner: str
    path: str
    until_s: int


def signed(ticket: Ticket, secret: bytes) -> str:
    body = json.dumps([ticket.session, ticket.owner, ticket.path, ticket.until_s]).encode()
    return f"{_text(body)}.{_text(_mark(body, secret))}"


def opened(token: str, secret: bytes) -> Ticket:
    """Raises Denied for one that is not ours, or not any more."""
    body, _, mark = token.partition(".")
    try:
        if len(token) > _LONGEST_TOKEN:
            raise ValueError
        content = _bytes(body)
        if not hmac.compare_digest(_bytes(mark), _mark(content, secret)):
            raise ValueError
    except ValueError as error:
        raise Denied("this address was not made here, or not by this run of the server: ask for a new one") from error
    ticket = Ticket(*json.loads(content))
    if time.time() > ticket.until_s:
        raise Denied("this address has expired: ask for a new one")
    return ticket


def _mark(body: bytes, secret: bytes) -> bytes:
    return hmac.new(secret, body, hashlib.sha256).digest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
