"""The SandboxFusion dialect: POST /run_code, POST /run_jupyter, and the judge.

Contract: fields, defaults, status words and their order are those of that protocol; what it lacks (ending, blame, usage,
isolation) is added beside them under `details`, never in their place. Whatever fails on our side is HTTP 200 with status
SandboxError and never counts against the program; a request that is wrong is 422, and overload is 504 with Retry-After. The
judge has statuses of its own: a completion that could not be judged is 500 and no verdict. A client that hangs up ends its run.
"""
