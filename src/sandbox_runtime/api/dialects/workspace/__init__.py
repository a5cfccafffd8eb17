"""The workspace dialect: /workspace/se/*, /v2/execute_code and /api.json.

Contract:
- One response has every form that clients of this protocol read: the plain fields, the envelope `success`, `data`, `error`, and
  the wrapper `result`, `full_result`.
- `result` has two meanings: the handler's value if a handler was called, otherwise the plain fields. `data.result` is always the
  handler's value, or null.
- Every route of a session except create and delete creates the session if it is missing or has ended.
- An execution is cancelled when its client disconnects.
"""
