"""The same verbs as tools of the Model Context Protocol.

    door = McpServer(config, places, version)
    await serve_stdio(door)

Contract: a sandbox is a session whose id is a UUID. `config` is the YAML of mcp-sandboxd; `places` are hosts of sandboxes (an
engine in this process, a server); `tools`, `resources` and `prompts` are values that know places alone; `server` tells them in
the words of the official SDK, which is imported in this room and nowhere else; `transports` carry them. The room knows no web
application: whoever has one mounts `transports.http`.
"""
