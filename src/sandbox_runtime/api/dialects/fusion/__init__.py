"""The SandboxFusion dialect: POST /run_code, POST /run_jupyter, and the judge.

Contract:
- Fields, defaults, status words and their order are those of that protocol. What it lacks (ending, blame, usage, isolation) is
  added under `details`; no field changes its meaning.
- A failure of the platform is HTTP 200 with status SandboxError and never counts against the program. An invalid request is 422,
  overload 504 with Retry-After.
- The judge has other statuses: a completion that could not be judged is 500, which is not a verdict.
- A run is cancelled when its client disconnects.
"""
