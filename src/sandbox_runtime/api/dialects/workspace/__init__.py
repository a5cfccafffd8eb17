"""The workspace dialect: /workspace/se/*, /v2/execute_code and /api.json.

Contract: one answer holds every form that clients of this protocol read: the plain fields, the envelope `success`, `data`,
`error`, and the wrapper `result`, `full_result`. Only `result` means two things: the value of a handler where one was called,
otherwise the plain fields; `data.result` is always the handler's value, or null. Every route of a session except creating and
deleting creates the session when there is none, or when it has ended. A client that hangs up ends its execution.
"""
