"""Every dataset: its id, its benchmark, the table its rows are in. First those that other judges have, in their order; then ours.

A new dataset is one line here; one of an operator's own is one line of a configuration file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from sandbox_runtime.benchmarks.aider import AIDER
from sandbox_runtime.benchmarks.aider_polyglot import AIDER_POLYGLOT
from sandbox_runtime.benchmarks.auto_eval import AUTO_EVAL
from sandbox_runtime.benchmarks.can_it_edit import CAN_IT_EDIT
from sandbox_runtime.benchmarks.common_oj import COMMON_OJ
from sandbox_runtime.benchmarks.cruxeval import CRUXEVAL
from sandbox_runtime.benchmarks.evalplus import EVALPLUS
from sandbox_runtime.benchmarks.evoeval import EVOEVAL
from sandbox_runtime.benchmarks.humaneval import HUMANEVAL
from sandbox_runtime.benchmarks.humaneval_x import HUMANEVAL_X
from sandbox_runtime.benchmarks.live_code_bench import LIVE_CODE_BENCH
from sandbox_runtime.benchmarks.mbpp import MBPP
from sandbox_runtime.benchmarks.mbxp import MBXP
from sandbox_runtime.benchmarks.mhpp import MHPP
from sandbox_runtime.benchmarks.minif2f import MINIF2F
from sandbox_runtime.benchmarks.multipl_e import MULTIPL_E
from sandbox_runtime.benchmarks.natural_code_bench import NATURAL_CODE_BENCH
from sandbox_runtime.benchmarks.pal_math import PAL_MATH
from sandbox_runtime.benchmarks.repobench import REPOBENCH_C, REPOBENCH_P
from sandbox_runtime.benchmarks.torch_op import TORCH_OP
from sandbox_runtime.benchmarks.verilog_eval import VERILOG_EVAL
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Benchmark, Dataset

DEFAULT_TABLE = "code_eval_${dataset_id}"
_ID = "${dataset_id}"

_REGISTERED: tuple[tuple[Benchmark, str], ...] = (
    (AIDER, "aider_benchmark_v1"),
    (COMMON_OJ, "code_contests"),
    (CRUXEVAL, "cruxeval cruxeval_x"),
    (
        MULTIPL_E,
        "multiple_cpp multiple_ts multiple_sh multiple_cs multiple_go multiple_java multiple_lua multiple_js multiple_php "
        "multiple_pl multiple_rkt multiple_r multiple_rs multiple_scala multiple_swift multiple_rb multiple_d multiple_jl",
    ),
    (
        HUMANEVAL,
        "humaneval_python humaneval_cpp humaneval_typescript humaneval_bash humaneval_csharp humaneval_go humaneval_java "
        "shadow_humaneval_python bigcodebench",
    ),
    (EVOEVAL, "evoeval"),
    (LIVE_CODE_BENCH, "live_code_bench_v1"),
    (MBPP, "mbpp"),
    (MBXP, "mbxp_v1_en humanevalds_v1_en oodtest_v1_zh humanevalds_v2_en mbxp_v2_en"),
    (MHPP, "mhpp"),
    (MINIF2F, "minif2f_lean4_test minif2f_lean4_valid"),
    (NATURAL_CODE_BENCH, "ncb_python_zh ncb_python_en ncb_java_zh ncb_java_en"),
    (PAL_MATH, "palmath"),
    (REPOBENCH_C, "repobench_c_python repobench_c_java"),
    (REPOBENCH_P, "repobench_p_python repobench_p_java"),
    (VERILOG_EVAL, "verilogeval_human verilogeval_machine"),
    (AUTO_EVAL, ""),
    (HUMANEVAL_X, "humaneval_x_python humaneval_x_java humaneval_x_cpp humaneval_x_go humaneval_x_rust humaneval_x_js"),
    (EVALPLUS, "humanevalplus mbppplus"),
    (MBPP, "mbpp_sanitized"),
    (HUMANEVAL, "bigcodebench_hard"),
    (VERILOG_EVAL, "verilogeval_v2_complete verilogeval_v2_spec"),
    (AIDER_POLYGLOT, "aider_polyglot"),
    (CAN_IT_EDIT, "can_it_edit"),
    (TORCH_OP, "torch_op"),
)
_TABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "evoeval": ("code_eval_EvoEval", "code_eval_evoeval"),
        # A slip of the pen that is in deployed tables.
        "multiple_rs": ("code_eval_multiple_re", "code_eval_multiple_rs"),
        **{
            f"repobench_{kind}_{language}": (f"code_eval_repobench_{kind}_{language}_sampled",)
            for kind in ("c", "p")
            for language in ("python", "java")
        },
    }
)
_ALIASES: Mapping[str, str] = MappingProxyType({f"AutoEval{version}Dataset": "AutoEvalDataset" for version in ("V4", "V5", "V6")})

Registered = Iterable[tuple[str, Mapping[str, str]]]
"""Class name → the tables of its datasets, by their ids."""


def datasets(configured: Registered = (), default_table: str = DEFAULT_TABLE) -> tuple[Dataset, ...]:
    """configured: what a configuration file adds, or has in other tables; its own order comes first."""
    rest = {dataset.id: dataset for dataset in _built_in_datasets(default_table)}
    own = {dataset.id: _with_other_tables(dataset, rest.get(dataset.id)) for dataset in _configured_datasets(configured)}
    return tuple({**own, **{name: dataset for name, dataset in rest.items() if name not in own}}.values())


def benchmark_classes() -> Mapping[str, Benchmark]:
    """By class name, under which rows that come with a request name their kind."""
    named = {benchmark.name: benchmark for benchmark, _ in _REGISTERED}
    return MappingProxyType({**named, **{alias: named[name] for alias, name in _ALIASES.items()}})


def table_of(dataset: str, default_table: str = DEFAULT_TABLE) -> str:
    """Where the rows of a dataset are that is not registered."""
    return default_table.replace(_ID, dataset)


def samples_folder() -> Path:
    """The sample rows that come with this package."""
    return Path(str(resources.files(__package__).joinpath("samples")))


def _built_in_datasets(default_table: str) -> Iterator[Dataset]:
    for benchmark, names in _REGISTERED:
        for name in names.split():
            table, *others = _TABLES.get(name, (table_of(name, default_table),))
            yield Dataset(name, benchmark, table, tuple(others))


def _configured_datasets(configured: Registered) -> Sequence[Dataset]:
    classes = benchmark_classes()
    found = []
    for class_name, tables in configured:
        if class_name not in classes:
            raise InvalidRequest(f"the registry names the class {class_name!r}, which is none of {', '.join(sorted(classes))}")
        found += [Dataset(name, classes[class_name], table) for name, table in tables.items()]
    return found


def _with_other_tables(dataset: Dataset, built_in: Dataset | None) -> Dataset:
    others = () if built_in is None else (built_in.table, *built_in.other_tables)
    return dataclasses.replace(dataset, other_tables=tuple(table for table in others if table != dataset.table))
