"""The objects that the HTTP and MCP servers call: `Sessions`, and one object per group of verbs below it."""
