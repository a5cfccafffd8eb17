"""The knobs of who may ask, from where, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class AccessSettings:
    require_keys: bool = setting(
        False,
        "yes or no",
        "Ask for a key even on loopback; those that `sandbox keys create` made open as well as api_key. Together with host, "
        "this is how a server is opened to others without a key in its settings.",
        "access",
    )
    rate_limit_per_minute: int = setting(
        0, "requests", "Requests a minute with one key; 0: as many as it likes.", "access", low=0, high=10_000_000
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "names",
        "Names by which the server may be called (`Host`), such as `sandbox.example.org` or `*.example.org`; `*`: any. Without "
        "any, a server that asks for no key answers to names of this machine alone.",
        "access",
    )
    cors_origins: tuple[str, ...] = setting(
        ("*",),
        "origins",
        "Web pages whose scripts may use a server that asks for keys, such as `https://console.example.org`; `*`: all. One that "
        "asks for none serves pages of this machine and those named here.",
        "access",
    )
    internal_api_token: str = setting(
        "",
        "text",
        "What nodes elsewhere show when they report (`/api/v1/internal`). Empty: no report is taken.",
        "access",
        secret=True,
    )
