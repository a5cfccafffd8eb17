"""Sandbox hosts. `port` defines the interface, `local` uses an engine in this process, `remote` a server through its client,
`configured` applies the configuration to either."""
