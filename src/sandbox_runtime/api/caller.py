"""The caller of a request. The access middleware identifies it once for each request; routes read it here.

owner = owner_of(request)          for methods of sessions; "" sees everything
check_admin(request)               before changing what all owners share
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from sandbox_runtime.errors import Denied
from sandbox_runtime.model.grants import Grants

SCOPE_KEY = "sandbox_runtime.caller"
DEFAULT_GRANTS = Grants()


@dataclass(frozen=True, slots=True)
class Caller:
    owner: str = ""
    """Empty: sees everything."""
    key: str = ""
    """Id of the API key. Empty for the operator's key and if keys are not required."""
    grants: Grants = DEFAULT_GRANTS


OPERATOR = Caller(grants=Grants(admin=True))
"""The caller with the key of the settings, and every caller if keys are not required."""


def caller_of(request: HTTPConnection) -> Caller:
    """Return the caller. Raises Denied if the request did not pass the access middleware."""
    caller = request.scope.get(SCOPE_KEY)
    if not isinstance(caller, Caller):
        raise Denied("the caller of this request was not identified")
    return caller


def owner_of(request: HTTPConnection) -> str:
    return caller_of(request).owner


def check_admin(request: HTTPConnection) -> None:
    if not caller_of(request).grants.admin:
        raise Denied("this changes what all owners share: use a key with the scope admin")
