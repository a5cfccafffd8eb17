"""Ways to the server: standard streams, Streamable HTTP, WebSocket. Each bounds what a message may weigh, and ends cleanly."""
