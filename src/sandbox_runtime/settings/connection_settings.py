"""The knobs of connections: how long the server waits for a client, and how many clients it holds at once."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting

_MAX_CONNECTIONS = 8192


def _max_connections() -> int:
    """Half of the files that this process may open: boxes and sessions need the others."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return _MAX_CONNECTIONS if hard == resource.RLIM_INFINITY else max(16, min(_MAX_CONNECTIONS, hard // 2))


def _max_connections_per_address() -> int:
    return max(8, _max_connections() // 2)


@dataclass(frozen=True, kw_only=True)
class ConnectionSettings:
    header_timeout_s: float = setting(
        15.0,
        "seconds",
        "Time a client has to send the whole header of a request, from its first byte or from connecting.",
        "connections",
        low=0.1,
        high=3600,
    )
    body_timeout_s: float = setting(
        60.0,
        "seconds",
        "Time in which a request body must bring at least 1 KiB, or its end; the connection is closed otherwise. Time in "
        "which the server itself does not read is not counted.",
        "connections",
        low=0.1,
        high=3600,
    )
    send_timeout_s: float = setting(
        60.0,
        "seconds",
        "Time a client may leave an answer unread once the buffers between are full. Streams that have nothing to send may be "
        "silent for as long as they like.",
        "connections",
        low=0.1,
        high=3600,
    )
    keep_alive_s: float = setting(
        75.0,
        "seconds",
        "How long a connection may stay open between two requests. Keep it above the idle time of clients and proxies that pool "
        "connections, or they lose requests.",
        "connections",
        low=1,
        high=3600,
    )
    max_connections: int = setting(
        _max_connections,
        "connections",
        "Connections that are open at once, streams and WebSockets included. More are answered with 503 and closed.",
        "connections",
        low=1,
        high=1_000_000,
        default_text="8,192, or half of the files this process may open where that is less",
    )
    max_connections_per_address: int = setting(
        _max_connections_per_address,
        "connections",
        "Connections from one address that are open at once. All clients behind one proxy share its address.",
        "connections",
        low=1,
        high=1_000_000,
        default_text="half of the default of max_connections",
    )
