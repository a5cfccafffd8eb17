"""The one place where objects are built.

async with open_platform(settings) as platform:
    result = await platform.engine.run(job)

Contract: nothing else in this code base builds an engine, a judge or sessions from settings. What settings mean for each room
is a function here (…_of): pure, so that a part can be opened without the whole.
"""

from sandbox_runtime.assembly.box_config import STD, allowance_of, backend_of, options_of, policies_of, preset_of
from sandbox_runtime.assembly.options import (
    datasets_of,
    loop_options_of,
    pools_of,
    row_options_of,
    session_options_of,
    storage_options_of,
    store_options_of,
)
from sandbox_runtime.assembly.platform import Platform, open_platform, version

__all__ = [
    "STD",
    "Platform",
    "allowance_of",
    "backend_of",
    "datasets_of",
    "loop_options_of",
    "open_platform",
    "options_of",
    "policies_of",
    "pools_of",
    "preset_of",
    "row_options_of",
    "session_options_of",
    "storage_options_of",
    "store_options_of",
    "version",
]
