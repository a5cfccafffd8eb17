"""Settings of access: keys, rate limit, hosts and origins."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class AccessSettings:
    require_keys: bool = setting(
        False,
        "yes or no",
        "Require a key even on loopback. Keys made by `sandbox keys create` work as well as api_key. Together with host, "
        "this opens a server to others without a key in its settings.",
        "access",
    )
    rate_limit_per_minute: int = setting(
        0, "requests", "Requests per minute for one key. 0: no limit.", "access", low=0, high=10_000_000
    )
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "names",
        "Host names that requests may use (`Host` header), such as `sandbox.example.org` or `*.example.org`; `*` allows "
        "any. If empty, a server without keys accepts only names of this machine.",
        "access",
    )
    cors_origins: tuple[str, ...] = setting(
        ("*",),
        "origins",
        "Web origins whose scripts may call a server with keys, such as `https://console.example.org`; `*` allows all. A "
        "server without keys accepts pages of this machine and the origins listed here.",
        "access",
    )
    internal_api_token: str = setting(
        "",
        "text",
        "Token that remote nodes send with their reports (`/api/v1/internal`). Empty: reports are rejected.",
        "access",
        secret=True,
    )
