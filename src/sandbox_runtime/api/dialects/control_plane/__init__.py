"""The control-plane dialect: sessions, executions, templates, containers, runtimes, files and health at /api/v1.

Nodes send reports to /api/v1/internal and /internal. The routes of a runtime node are at /runtime.

The protocol exists in two versions: its design document and its implementation. Both are supported: requests may use the field
names of either, and responses and errors have the fields of both. Contexts, forks, streams that resume at any byte, and the audit
log are additions. Every response has X-Request-ID and X-Process-Time. Owners see only their own sessions.
"""
