"""Responses that many routes share."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class MessageResponse(BaseModel):
    message: str


class ErrorResponse(BaseModel):
    """An error. It has the fields of both versions of the protocol."""

    error: str = Field(description="name of the HTTP status")
    message: str
    detail: Any = Field(description="the message, or the list of invalid fields")
    error_code: str = Field(description="for example Sandbox.InvalidParameter")
    description: str = Field(description="same as message")
    error_detail: Any = Field(description="same as detail")
    solution: str = Field(description="how to fix it")
