"""What the settings mean for boxes: presets, policies, limits, and the backend that opens them."""

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
from sandbox_runtime.judge import integrity
from sandbox_runtime.judge import preload as judge_warm
from sandbox_runtime.model import Limits, Network, Policy
from sandbox_runtime.model.limits import KIB
from sandbox_runtime.settings import Settings
from sandbox_runtime.workspace import Quotas

STD, NOTEBOOK, CONTEXT, JUDGE = "std", "notebook", "context", "judge"
PRESETS: Mapping[str, tuple[str, ...]] = {STD: (), "data": DATA_MODULES, "plot": PLOT_MODULES}
"""Presets with a name and what they load beside the standard modules; every other list of modules is the preset "custom"."""


def preset_of(settings: Settings) -> tuple[str, tuple[str, ...]]:
    """The name of the preset and the modules it loads."""
    names = settings.preset or (STD,)
    asked = [module for name in names for module in PRESETS.get(name, (name,))]
    modules = tuple(dict.fromkeys((*STANDARD_MODULES, *asked)))
    return (names[0] if len(names) == 1 and names[0] in PRESETS else "custom"), modules


def policies_of(settings: Settings) -> dict[str, Policy]:
    """One for each preset in use. Languages that are not warm take boxes of the plain one."""
    if settings.network_allow and not settings.allow_network:
        raise InvalidRequest("network_allow names addresses but allow_network is off; switch it on or clear network_allow")
    network = Network("nat" if settings.allow_network else "none", settings.network_allow)
    names = (STD, JUDGE, preset_of(settings)[0])
    return {
        name: Policy(network, name, single_use=True, disk_bytes=settings.disk_limit, disk_files=settings.file_limit)
        for name in names
    }


def allowance_of(settings: Settings) -> RequestLimits:
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


def floors_of(settings: Settings, policies: Mapping[str, Policy]) -> dict[Policy, int]:
    """The plain shelf beside another preset, and those of boxes for languages that compile or need toolchains, start empty and
    fill with demand."""
    plain = policies[STD]
    kinds = [
        dataclasses.replace(plain, single_use=single_use, toolchains=toolchains)
        for single_use in (True, False)
        for toolchains in (True, False)
    ]
    return {**dict.fromkeys([*kinds, policies[JUDGE]], 0), policies[preset_of(settings)[0]]: settings.pool_size}


def usual_of(settings: Settings) -> Limits:
    """Limits that boxes wait with; a job that sets others has them set on it when it comes."""
    return allowance_of(settings).default.replace(memory_bytes=settings.memory_ceiling)


def backend_of(settings: Settings) -> BackendContext:
    return open_backend(settings.isolation, options_of(settings))


def options_of(settings: Settings) -> BackendOptions:
    name, modules = preset_of(settings)
    return BackendOptions(
        guest_python=settings.guest_python,
        state_dir=settings.state_dir,
        toolchains_dir=settings.toolchains_dir,
        presets={
            STD: Preset(STANDARD_MODULES, injected=handlers.injected_modules()),
            name: Preset(modules, injected=handlers.injected_modules()),
            NOTEBOOK: Preset((*modules, *NOTEBOOK_MODULES), eager=False, injected=notebook_modules()),
            JUDGE: Preset(
                (*modules, *judge_warm.STANDARD),
                eager=False,
                injected=(*judge_warm.preloaded_modules(), *integrity.harness_modules()),
            ),
            CONTEXT: Preset((*modules, *contexts.MODULES), eager=False, injected=contexts.injected_modules(), copyable=True),
        },
        keep_bytes=settings.output_keep_bytes,
        usual_limits=usual_of(settings),
        box_uid_base=settings.box_uid_base,
        images_dir=f"{settings.data_dir}/areas",
        memory_files_bytes=settings.session_memory_files_bytes,
        guest_check_s=settings.guest_check_s,
        nat=NatOptions(dns=settings.network_dns, nameservers=settings.network_nameservers, refuse=settings.network_refuse),
    )
