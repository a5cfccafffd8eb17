"""The sandbox dialect: /api/v1, /api/v2 and /api with sandboxes, their files and executions, tools, resources and prompts.

Contract:
- A sandbox is a session. What only this protocol has (name, image, metadata, whether it was stopped) is stored in the session's
  `about_json`.
- The version is that of the path. Below /api it is that of the header API-Version, else of Accept, else 1. Batches, logs,
  metrics, health and events need version 2.
- All lists have one shape, and all errors.
- Tools, resources and prompts come from `app.state.tool_provider` (see tool_provider.py). Without it their routes return 501.
  Asynchronous calls are kept by open_tool_calls().
"""

from sandbox_runtime.api.dialects.sandboxes.router import dialect
from sandbox_runtime.api.dialects.sandboxes.tool_calls import open_tool_calls

__all__ = ["dialect", "open_tool_calls"]
