"""Batches of completions over HTTP: /api/v1/judge/batches.

Contract:
- Completions arrive as JSON lines, either as the body or as a file of a form, or as a list in one JSON object.
- Once a batch has an id, every completion gets a result, even across restarts.
- Progress is sent as server-sent events. Results are JSON lines and can be read from any byte offset.
- An owner can access only their own batches.
"""
