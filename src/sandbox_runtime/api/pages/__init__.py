"""HTML pages: the index at `/`, the documentation at `/SandboxFusion` and the playground at `/playground`.

They serve files of the package only, so they need no key. Every response has a content security policy that allows no scripts but
our own. Only this package imports markdown-it.
"""

from sandbox_runtime.api.pages.routes import is_page, router

__all__ = ["is_page", "router"]
