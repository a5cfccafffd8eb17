"""Pages for people: the way in at `/`, the documentation below `/SandboxFusion`, the playground below `/playground`.

Contract: files that come with the package and nothing else; they need no key, since there is nothing in them that is not public.
Every answer carries a content security policy under which no script runs but ours. The only room that imports markdown-it.
"""

from sandbox_runtime.api.pages.routes import is_page, router

__all__ = ["is_page", "router"]
