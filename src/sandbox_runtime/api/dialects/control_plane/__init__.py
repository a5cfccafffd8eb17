"""The control-plane dialect: /api/v1 with sessions, executions, templates, containers, runtimes, files and health; reports of
nodes below /api/v1/internal and /internal; the addresses of a runtime node below /runtime.

Contract: where the protocol as it was implemented and as it was designed differ, both are served: answers carry the fields of
either, requests take either. Errors carry both shapes. What is ours beside it: contexts, forks, streams that go on at any
byte, and the audit. Every answer has X-Request-ID and X-Process-Time. An owner sees its own sessions and nothing else.
"""
