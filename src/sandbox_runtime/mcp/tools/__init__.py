"""The tools, one module per group.

A Tool is a frozen value: name, description, models of arguments and result, and a coroutine that takes a ToolContext and the
arguments and returns a ToolResponse. Tools use the sandbox host and the configuration and do not depend on the protocol: the
server translates a ToolResponse, an error of sandbox_runtime.errors or a ToolFailure. A failed program is a ToolResponse with an
error code and its result.
"""
