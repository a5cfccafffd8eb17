"""Builds the objects of a server or a command from its settings.

async with open_platform(settings) as platform:
    result = await platform.engine.run(job)

Contract: nothing else builds an engine, a judge or sessions from settings. The functions build_… translate settings into the
options of one package. They are pure, so that one part can be opened without the rest.
"""

from sandbox_runtime.assembly.box_config import (
    STD,
    build_backend_options,
    build_policies,
    build_request_limits,
    open_configured_backend,
    parse_preset,
)
from sandbox_runtime.assembly.options import (
    build_datasets,
    build_loop_options,
    build_row_options,
    build_session_options,
    build_storage_options,
    build_store_options,
    parse_pool_sizes,
)
from sandbox_runtime.assembly.platform import Platform, open_platform, version

__all__ = [
    "STD",
    "Platform",
    "build_backend_options",
    "build_datasets",
    "build_loop_options",
    "build_policies",
    "build_request_limits",
    "build_row_options",
    "build_session_options",
    "build_storage_options",
    "build_store_options",
    "open_configured_backend",
    "open_platform",
    "parse_pool_sizes",
    "parse_preset",
    "version",
]
