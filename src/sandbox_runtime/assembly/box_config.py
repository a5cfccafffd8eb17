"""Translates settings into presets, policies, limits and the isolation backend."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from sandbox_runtime.engine import (
    RequestLimits,
    contexts,
    handlers,
)
from sandbox_runtime.engine.notebook import MODULES as NOTEBOOK_MODULES
from sandbox_runtime.engine.notebook import injected_modules as notebook_modules
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.nat import NatOptions
from sandbox_runtime.isolation.options import DATA_MODULES, PLOT_MODULES, STANDARD_MODULES, BackendOptions, Preset
from sandbox_runtime.isolation.port import BackendContext
from sandbox_runtime.judge import integrity, preload
from sandbox_runtime.model import Limits, Network, Policy
from sandbox_runtime.model.limits import KIB
from sandbox_runtime.settings import Settings
from sandbox_runtime.workspace import Quotas

STD, NOTEBOOK, CONTEXT, JUDGE = "std", "notebook", "context", "judge"
PRESETS: Mapping[str, tuple[str, ...]] = {STD: (), "data": DATA_MODULES, "plot": PLOT_MODULES}
"""Named presets and the modules they load in addition to the standard ones. Any other list of modules is the preset "custom"."""


def parse_preset(settings: Settings) -> tuple[str, tuple[str, ...]]:
    """Return the name of the preset and the modules it loads."""
    names = settings.preset or (STD,)
    requested = [module for name in names for module in PRESETS.get(name, (name,))]
    modules = tuple(dict.fromkeys((*STANDARD_MODULES, *requested)))
    return (names[0] if len(names) == 1 and names[0] in PRESETS else "custom"), modules


def build_policies(settings: Settings) -> dict[str, Policy]:
    """Return one policy for each preset in use. Languages without a warm interpreter use the `std` policy."""
    if settings.network_allow and not settings.allow_network:
        raise InvalidRequest(
            "network_allow lists addresses but allow_network is off; turn allow_network on or clear network_allow"
        )
    network = Network("nat" if settings.allow_network else "none", settings.network_allow)
    names = (STD, JUDGE, parse_preset(settings)[0])
    return {
        name: Policy(network, name, single_use=True, disk_bytes=settings.disk_limit, disk_files=settings.file_limit)
        for name in names
    }


def build_request_limits(settings: Settings) -> RequestLimits:
    default = Limits(
        wall_s=min(settings.timeout_seconds, settings.timeout_ceiling),
        memory_bytes=min(settings.memory_limit * KIB, settings.memory_ceiling),
        processes=settings.process_limit,
        output_bytes=settings.output_limit,
        file_bytes=settings.disk_limit,
        disk_bytes=settings.disk_limit,
        disk_files=settings.file_limit,
        cpu_cores=settings.cpu_quota,
    )
    return RequestLimits(
        default=default,
        max_wall_s=settings.timeout_ceiling,
        max_memory_bytes=settings.memory_ceiling,
        max_code_bytes=settings.max_code_bytes,
        max_stdin_bytes=settings.max_stdin_bytes,
        quotas=Quotas(settings.max_files, settings.max_file_bytes, settings.max_request_bytes),
    )


def build_pool_minimums(settings: Settings, policies: Mapping[str, Policy]) -> dict[Policy, int]:
    """Return how many boxes of each policy are kept ready.

    Only the configured preset starts with ready boxes. The pools of the judge, of compiled languages and of languages that need
    toolchains start empty and grow with demand.
    """
    plain = policies[STD]
    kinds = [
        dataclasses.replace(plain, single_use=single_use, toolchains=toolchains)
        for single_use in (True, False)
        for toolchains in (True, False)
    ]
    return {**dict.fromkeys([*kinds, policies[JUDGE]], 0), policies[parse_preset(settings)[0]]: settings.pool_size}


def build_default_limits(settings: Settings) -> Limits:
    """Return the limits that idle boxes are created with. A job with other limits sets them when it takes the box."""
    return build_request_limits(settings).default.replace(memory_bytes=settings.memory_ceiling)


def open_configured_backend(settings: Settings) -> BackendContext:
    return open_backend(settings.isolation, build_backend_options(settings))


def build_backend_options(settings: Settings) -> BackendOptions:
    name, modules = parse_preset(settings)
    return BackendOptions(
        guest_python=settings.guest_python,
        state_dir=settings.state_dir,
        toolchains_dir=settings.toolchains_dir,
        presets={
            STD: Preset(STANDARD_MODULES, injected=handlers.injected_modules()),
            name: Preset(modules, injected=handlers.injected_modules()),
            NOTEBOOK: Preset((*modules, *NOTEBOOK_MODULES), eager=False, injected=notebook_modules()),
            JUDGE: Preset(
                (*modules, *preload.STANDARD),
                eager=False,
                injected=(*preload.preloaded_modules(), *integrity.harness_modules()),
            ),
            CONTEXT: Preset((*modules, *contexts.MODULES), eager=False, injected=contexts.injected_modules(), copyable=True),
        },
        keep_bytes=settings.output_keep_bytes,
        usual_limits=build_default_limits(settings),
        box_uid_base=settings.box_uid_base,
        images_dir=f"{settings.data_dir}/areas",
        memory_files_bytes=settings.session_memory_files_bytes,
        guest_check_s=settings.guest_check_s,
        nat=NatOptions(dns=settings.network_dns, nameservers=settings.network_nameservers, refuse=settings.network_refuse),
    )
