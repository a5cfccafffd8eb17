"""GET /languages: the languages of the catalog, and which of them work on this server."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.engine import LanguageStatus
from sandbox_runtime.languages import Language

CHECK_TIMEOUT_S = 10.0

router = APIRouter()


class LanguageEntry(BaseModel):
    name: str
    title: str
    aliases: list[str]
    extensions: list[str]
    group: str = Field(description="major, minor or gpu as in other systems, or more")
    compiled: bool = Field(description="whether a run has a separate compile step")
    enabled: bool = Field(description="whether its check program succeeds on this server")
    pending: bool = Field(description="the check is still running; request again later")
    version: str = Field(description="version that the toolchain reports")
    reason: str = Field(description="why it is disabled")


@router.get("/languages")
async def languages(request: Request) -> list[LanguageEntry]:
    """List every language of the catalog. Languages whose check takes longer than a few seconds are returned as pending."""
    platform = platform_of(request)
    statuses = await platform.engine.languages(within_s=CHECK_TIMEOUT_S)
    return [_entry(platform.catalog.find(status.language), status) for status in statuses]


def _entry(language: Language, status: LanguageStatus) -> LanguageEntry:
    return LanguageEntry(
        name=language.name,
        title=language.title,
        aliases=list(language.aliases),
        extensions=list(language.extensions),
        group=language.group,
        compiled=language.compile is not None,
        enabled=status.enabled,
        pending=status.pending,
        version=status.version,
        reason=status.reason,
    )
