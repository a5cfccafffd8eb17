"""What the conformance suite wants to be given and no tool or prompt of the product gives: sound, embedded files, images."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types

RED_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="


def said(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def embedded(uri: str, kind: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(type="resource", resource=types.TextResourceContents(uri=uri, mime_type=kind, text=text))


def dot() -> types.ImageContent:
    return types.ImageContent(type="image", data=RED_DOT, mime_type="image/png")


TOOLS: Mapping[str, list[types.ContentBlock]] = {
    "test_audio_content": [types.AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")],
    "test_embedded_resource": [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        said("Multiple content types test:"),
        dot(),
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
}
PROMPTS: Mapping[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}
"""Names, and what they take."""


def prompt(name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    shown: Mapping[str, list[types.ContentBlock]] = {
        "test_simple_prompt": [said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            said("Prompt with arguments: " + ", ".join(f"{key}='{one}'" for key, one in given.items()))
        ],
        "test_prompt_with_embedded_resource": [
            embedded(given.get("resourceUri", ""), "text/plain", "Embedded resource content for testing."),
            said("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [dot(), said("Please analyze the image above.")],
    }
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in shown[name]])
