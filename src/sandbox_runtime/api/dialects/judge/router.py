"""The declaration of this dialect: its router, and the limits of its bodies."""

from __future__ import annotations

from sandbox_runtime.api.dialect import Dialect
from sandbox_runtime.api.dialects.judge.routes.batches import PREFIX, router

dialect = Dialect(
    name="judge",
    routers=(router,),
    batch_paths=(PREFIX,),
    compressed_paths=(PREFIX,),
    uncompressed_paths=(f"{PREFIX}/{{path:path}}",),
)
