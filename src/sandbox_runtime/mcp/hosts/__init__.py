"""Hosts of sandboxes. `port` says what one can do, `local` is an engine in this process, `remote` a server behind its client."""
