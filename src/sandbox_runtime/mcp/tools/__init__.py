"""The tools: one file for each group.

Contract: a Tool is a frozen value with a name, a description, the model of its arguments, the model of its result, and a
coroutine from a ToolContext and the arguments to an ToolResponse. Tools know places and the configuration, and nothing of the protocol: the
server turns an ToolResponse, an error of sandbox_runtime.errors or a ToolFailure into what goes over the wire. A program that failed
is an ToolResponse with an error code, and with its result.
"""
