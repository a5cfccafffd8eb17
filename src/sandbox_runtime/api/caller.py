"""Who is asking. The gate finds out, once for each request; routes ask here.

owner = owner_of(request)          for the verbs of sessions: "" sees everything
check_admin(request)               for what all owners share
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from sandbox_runtime.errors import Denied
from sandbox_runtime.model.grants import Grants

SCOPE_KEY = "sandbox_runtime.caller"
EVERYDAY = Grants()


@dataclass(frozen=True, slots=True)
class Caller:
    """owner: "" sees everything. key: the id of the key that was shown; "" for the operator's own and where none is asked for."""

    owner: str = ""
    key: str = ""
    grants: Grants = EVERYDAY


OPERATOR = Caller(grants=Grants(admin=True))
"""Whoever shows the key of the settings, and everybody where keys are off."""


def caller_of(request: HTTPConnection) -> Caller:
    """Raises Denied where no gate stood in the way: nobody is let in by accident."""
    found = request.scope.get(SCOPE_KEY)
    if not isinstance(found, Caller):
        raise Denied("this request did not come through the gate")
    return found


def owner_of(request: HTTPConnection) -> str:
    return caller_of(request).owner


def check_admin(request: HTTPConnection) -> None:
    if not caller_of(request).grants.admin:
        raise Denied("that changes what all owners share: it takes a key with the scope admin")
