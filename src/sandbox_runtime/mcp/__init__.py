"""The Model Context Protocol server.

    server = McpServer(config, host_for, version)
    await serve_stdio(server)

A sandbox is a session whose id is a UUID. The packages:

- `config`: the YAML configuration of mcp-sandboxd.
- `hosts`: where sandboxes run: an engine in this process, or a remote server.
- `tools`, `resources`, `prompts`: values that depend on the host interface only.
- `server`: adapts them to the official SDK. No other package imports the SDK.
- `transports`: stdio, Streamable HTTP, WebSocket. The web application is created elsewhere and mounts `transports.routes`.
"""
