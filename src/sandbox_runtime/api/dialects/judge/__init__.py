"""Batches of completions over HTTP: /api/v1/judge/batches.

Contract: what is sent is JSON lines, as a body, a file of a form, or a list in a JSON object. An answer with an id is a promise:
every completion gets a result, across restarts. Progress comes as server-sent events, results as JSON lines that can be read from
any byte on. Each owner sees their own.
"""
