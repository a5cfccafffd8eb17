"""GET /languages: which languages there are, and which of them work on this server."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.engine import LanguageStatus
from sandbox_runtime.languages import Language

ANSWER_WITHIN_S = 10.0

router = APIRouter()


class LanguageEntry(BaseModel):
    name: str
    title: str
    aliases: list[str]
    extensions: list[str]
    group: str = Field(description="major, minor or gpu as other systems call them; more: beyond those")
    compiled: bool = Field(description="whether a run has a compile step of its own")
    enabled: bool = Field(description="whether its check program works on this server")
    pending: bool = Field(description="the check has not come to its end yet; ask again later")
    version: str = Field(description="what the toolchain says of itself")
    reason: str = Field(description="why it is not enabled")


@router.get("/languages")
async def languages(request: Request) -> list[LanguageEntry]:
    """Every language of the catalog. What is not known within a few seconds is told as pending."""
    platform = platform_of(request)
    proofs = await platform.engine.languages(within_s=ANSWER_WITHIN_S)
    return [_entry(platform.catalog.find(proof.language), proof) for proof in proofs]


def _entry(language: Language, proof: LanguageStatus) -> LanguageEntry:
    return LanguageEntry(
        name=language.name,
        title=language.title,
        aliases=list(language.aliases),
        extensions=list(language.extensions),
        group=language.group,
        compiled=language.compile is not None,
        enabled=proof.enabled,
        pending=proof.pending,
        version=proof.version,
        reason=proof.reason,
    )
