"""Responses with a content security policy, which says what browsers may do with our pages."""

from __future__ import annotations

import base64
import hashlib

from starlette.responses import HTMLResponse, Response

_STRICT = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
DOCUMENT_POLICY = f"{_STRICT}; style-src 'self'; img-src 'self'"
PICTURE_POLICY = f"{_STRICT}; style-src 'unsafe-inline'"
"""Pictures are our own SVG files with their styles inside; they run no script."""
APP_POLICY = f"{_STRICT}; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'"


def script_policy(script: str) -> str:
    """Return the policy of a page that contains exactly this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"{_STRICT}; script-src 'sha256-{digest}'"


def page(text: str, policy: str, status: int = 200) -> Response:
    return HTMLResponse(text, status, _headers(policy))


def asset(content: bytes, media_type: str, policy: str) -> Response:
    return Response(content, headers=_headers(policy), media_type=media_type)


def _headers(policy: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
    }
