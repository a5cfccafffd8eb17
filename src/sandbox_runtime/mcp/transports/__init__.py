"""Transports: standard streams, Streamable HTTP, WebSocket. Each limits the message size and shuts down cleanly."""
