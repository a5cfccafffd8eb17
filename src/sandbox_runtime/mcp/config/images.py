"""Names of images. There are none to be fetched: every sandbox has what this host has. Names of usual images stand for that."""

from __future__ import annotations

import re

PLAIN = ("ubuntu", "debian", "alpine", "fedora", "busybox", "buildpack-deps", "sandbox-runtime")
OF_LANGUAGES = {
    "python": "python", "node": "javascript", "golang": "go", "rust": "rust", "openjdk": "java", "eclipse-temurin": "java",
    "gcc": "cpp", "dotnet/sdk": "csharp", "ruby": "ruby", "php": "php", "r-base": "r", "perl": "perl", "bash": "bash",
}  # fmt: skip
_NAME = re.compile(r"(?:[a-z0-9.-]+(?::\d+)?/)?(?:library/)?([a-z0-9._/-]+?)(?::[\w.-]{1,128})?(?:@sha256:[0-9a-f]{64})?")
_LONGEST = 512


def is_known(image: str) -> bool:
    """Whatever the tag: a host has one version of each language, and tells it."""
    pairs = _NAME.fullmatch(image) if len(image) <= _LONGEST else None
    return pairs is not None and (pairs[1] in PLAIN or pairs[1] in OF_LANGUAGES)


def complaint(image: str) -> str:
    return (
        f"there is no image {image[:100]!r}: sandboxes have the languages of this host. Leave it out, or name one of "
        f"{', '.join((*PLAIN, *OF_LANGUAGES))}"
    )
