"""The sandbox dialect: /api/v1, /api/v2 and /api with sandboxes, their files and what runs in them, tools, resources and prompts.

Contract: a sandbox is a session; what this protocol knows of it and sessions do not (its name, its image, metadata, that it was
stopped) is noted with the session. The version is that of the path; below /api it is that of the header API-Version or of
Accept, and otherwise the first. Batches, logs and metrics belong to the second. Lists and errors have one shape each. Tools,
resources and prompts are offered by whoever sets app.state.offer (see tool_provider.py); where nobody does, they are 501. Calls
that nobody waits for are kept by open_calls().
"""

from sandbox_runtime.api.dialects.sandboxes.router import BASES, dialect
from sandbox_runtime.api.dialects.sandboxes.tool_calls import open_calls

__all__ = ["BASES", "dialect", "open_calls"]
