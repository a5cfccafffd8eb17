"""What goes wrong, on the wire."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Refusal(BaseModel):
    """Both shapes of the protocol at once."""

    error: str = Field(description="the name of the status")
    message: str
    detail: Any = Field(description="the message, or the fields that do not fit")
    error_code: str = Field(description="as Sandbox.InvalidParameter")
    description: str = Field(description="the same as message")
    error_detail: Any = Field(description="the same as detail")
    solution: str = Field(description="what to do about it")
