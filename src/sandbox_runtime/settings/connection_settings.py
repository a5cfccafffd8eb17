"""Settings of connections: timeouts and how many clients may be connected."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting

_MAX_CONNECTIONS = 8192


def _max_connections() -> int:
    """Half of the files this process may open; boxes and sessions need the rest."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return _MAX_CONNECTIONS if hard == resource.RLIM_INFINITY else max(16, min(_MAX_CONNECTIONS, hard // 2))


def _max_connections_per_address() -> int:
    return max(8, _max_connections() // 2)


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    header_timeout_s: float = setting(
        15.0,
        "seconds",
        "Time a client has to send the complete header of a request, from connecting or from its first byte.",
        "connections",
        low=0.1,
        high=3600,
    )
    body_timeout_s: float = setting(
        60.0,
        "seconds",
        "Time in which a request body must deliver at least 1 KiB, or end; otherwise the connection is closed. Time in "
        "which the server does not read is not counted.",
        "connections",
        low=0.1,
        high=3600,
    )
    send_timeout_s: float = setting(
        60.0,
        "seconds",
        "Time a client may leave a response unread once the buffers are full. Streams with nothing to send may stay silent"
        " for any time.",
        "connections",
        low=0.1,
        high=3600,
    )
    keep_alive_s: float = setting(
        75.0,
        "seconds",
        "How long a connection may stay open between two requests. Keep it above the idle time of clients and proxies that"
        " pool connections, or they lose requests.",
        "connections",
        low=1,
        high=3600,
    )
    max_connections: int = setting(
        _max_connections,
        "connections",
        "Maximum number of open connections, including streams and WebSockets. Further ones get a 503 response and are closed.",
        "connections",
        low=1,
        high=1_000_000,
        default_text="8,192, or half of the files this process may open where that is less",
    )
    max_connections_per_address: int = setting(
        _max_connections_per_address,
        "connections",
        "Maximum number of open connections from one address. All clients behind one proxy share its address.",
        "connections",
        low=1,
        high=1_000_000,
        default_text="half of the default of max_connections",
    )
