"""SANDBOX_CONFIG: the YAML files of SandboxFusion's deployments, read by the same loader."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.commands import sandbox

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import DatasetConfig, Settings, load
from sandbox_runtime.settings.dataset import CachedTable, CacheSource, Database, RowCache

LITE = "sandbox: {isolation: lite, cleanup_process: true, restore_bash: true, max_concurrency: 7}\n"


@pytest.fixture(autouse=True)
def no_file_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(tmp_path: Path, text: str, flags: dict[str, object] | None = None, **environ: str) -> Settings:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    return load(flags, {"SANDBOX_CONFIG": str(path), **environ})


def test_without_the_variable_nothing_is_read() -> None:
    settings = load(environ={})
    assert (settings.isolation, settings.dataset) == ("namespaces", DatasetConfig())


@pytest.mark.requirement("fusion-5.01", "fusion-6.01", "fusion-6.03")
def test_lite_means_full_isolation(tmp_path: Path) -> None:
    settings = loaded(tmp_path, LITE)
    assert (settings.isolation, settings.max_concurrency) == ("namespaces", 7)
    assert settings.origin["isolation"] == f"SANDBOX_CONFIG {tmp_path}/own.yaml"
    assert settings.origin["port"] == "default"


def test_a_file_without_a_word_on_isolation_keeps_it_on(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "sandbox: {max_concurrency: 3}\n")
    assert (settings.isolation, settings.origin["isolation"]) == ("namespaces", "default")


def test_every_other_source_is_stronger(tmp_path: Path) -> None:
    (tmp_path / "sandbox.toml").write_text("max_concurrency = 8\n")
    assert loaded(tmp_path, LITE).max_concurrency == 8
    assert loaded(tmp_path, LITE, SANDBOX_MAX_CONCURRENCY="9").max_concurrency == 9
    assert loaded(tmp_path, LITE, {"max_concurrency": 10}, SANDBOX_MAX_CONCURRENCY="9").max_concurrency == 10


@pytest.mark.requirement("fusion-6.01", "fusion-6.07", "fusion-6.08")
def test_local_comes_with_the_package() -> None:
    settings = load(environ={"SANDBOX_CONFIG": "local"})
    assert (settings.isolation, settings.max_concurrency, settings.log_color) == ("none", 34, True)
    assert settings.origin["isolation"] == "SANDBOX_CONFIG local.yaml"
    assert (settings.dataset.max_runner_concurrency, settings.dataset.database) == (3, Database("none"))
    assert settings.dataset.cache == RowCache("memory", (CacheSource("local", "sandbox/tests/datasets/samples"),))


@pytest.mark.requirement("fusion-6.09")
def test_ci_has_full_isolation_and_no_multiple_e() -> None:
    settings = load(environ={"SANDBOX_CONFIG": "ci"})
    assert (settings.isolation, settings.dataset.max_runner_concurrency) == ("namespaces", 0)
    assert "MultiPLEDataset" not in [entry.class_name for entry in settings.dataset.registry]


@pytest.mark.requirement("fusion-6.10")
def test_datasets_are_registered_in_the_order_in_which_they_are_listed() -> None:
    registry = load(environ={"SANDBOX_CONFIG": "local"}).dataset.registry
    ids = [dataset for entry in registry for dataset in entry.tables]
    assert ids[:5] == ["aider_benchmark_v1", "code_contests", "cruxeval", "cruxeval_x", "multiple_cpp"]
    assert ids[-2:] == ["verilogeval_human", "verilogeval_machine"] and len(ids) == 53
    assert registry[-1].class_name == "AutoEvalDataset" and not registry[-1].tables


@pytest.mark.requirement("fusion-6.11")
@pytest.mark.parametrize(
    ("dataset", "table"),
    [
        ("mbpp", "code_eval_mbpp"),
        ("evoeval", "code_eval_EvoEval"),
        ("multiple_rs", "code_eval_multiple_re"),
        ("repobench_p_java", "code_eval_repobench_p_java_sampled"),
    ],
)
def test_tables_are_named_as_the_protocol_says(dataset: str, table: str) -> None:
    registry = load(environ={"SANDBOX_CONFIG": "local"}).dataset.registry
    assert [entry.tables[dataset] for entry in registry if dataset in entry.tables] == [table]


@pytest.mark.requirement("fusion-6.05", "fusion-6.06")
def test_every_key_of_the_dataset_section_is_kept(tmp_path: Path) -> None:
    text = """
dataset:
  database:
    backend: {type: mysql, user: u, password: 1234, psm: p, host: h, port: 3306}
    cache:
      path: rows.db
      sources:
        - {type: local, path: samples}
        - {type: mysql, tables: [{name: t, columns: [id, content]}]}
  max_runner_concurrency: 5
  cpu_runner_url: http://cpu/run_code
  gpu_runner_url: http://gpu/run_code
  default_dataset_table: x_${dataset_id}
  registry:
    - {module_path: a.b, class_name: C, dataset_tables: {d: t}}
"""
    found = loaded(tmp_path, text).dataset
    assert found.database == Database("mysql", "u", "1234", "p", "h", "3306")
    tables = CacheSource("mysql", tables=(CachedTable("t", ("id", "content")),))
    assert found.cache == RowCache("rows.db", (CacheSource("local", "samples"), tables))
    assert (found.max_runner_concurrency, found.default_dataset_table) == (5, "x_${dataset_id}")
    assert (found.cpu_runner_url, found.gpu_runner_url) == ("http://cpu/run_code", "http://gpu/run_code")
    assert [(one.module_path, one.class_name, dict(one.tables)) for one in found.registry] == [("a.b", "C", {"d": "t"})]


@pytest.mark.requirement("fusion-6.03")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sandbx: {}", "sandbx is not a known key; allowed: common, dataset, sandbox"),
        ("sandbox: {isolation: docker}", "sandbox.isolation must be 'none' or 'lite'"),
        ("sandbox: {max_concurrency: 0}", "max_concurrency must be greater than or equal to 1"),
        ("sandbox: {max_concurrency: true}", "max_concurrency must be a whole number"),
        ("sandbox: {speed: 1}", "sandbox.speed is not a known key; allowed: cleanup_process, isolation"),
        ("sandbox: {cleanup_process: maybe}", "cleanup_process must be true or false"),
        ("sandbox: {isolation: none, restore_bash: true}", "restore_bash needs isolation lite"),
        ("sandbox: {isolation: none, set_uid: 0}", "set_uid needs isolation lite"),
        ("sandbox: {set_uid: nobody}", "set_uid must be a whole number"),
        ("sandbox: 7", "sandbox must be a table"),
        ("- 1", "must be a table"),
        ("{", "is not valid YAML"),
        ("a: !!python/object/apply:os.system [id]", "is not valid YAML"),
        ("[" * 5000, "is not valid YAML"),
        ("1: 2", "[1] is not a valid key"),
        ("dataset: {database: {backend: {type: oracle}}}", "dataset.database.backend.type must be 'mysql' or 'none'"),
        ("dataset: {database: {cache: {sources: []}}}", "cache.path is missing"),
        ("dataset: {database: {cache: {path: memory, sources: [{type: ftp}]}}}", "sources[0].type must be 'local' or 'mysql'"),
        ("dataset: {registry: [{class_name: C, dataset_tables: {a: 1}}]}", "registry[0].dataset_tables.a must be text"),
        ("dataset: {registry: [{module_path: m}]}", "registry[0].class_name is missing"),
        ("dataset: {database: {cache: {path: memory, sources: [{type: local}]}}}", "sources[0]: path is missing"),
        ("dataset: {database: {cache: {path: m, sources: [{type: mysql, path: p}]}}}", "path does not fit the type mysql"),
        ("dataset: {database: {backend: {password: true}}}", "backend.password must be text"),
        ("dataset: {registry: 7}", "registry must be a list"),
        ("common: {logging_color: 1}", "logging_color must be true or false"),
    ],
)
def test_an_error_names_the_file_and_the_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        loaded(tmp_path, text)
    assert told in str(refused.value) and "own.yaml" in str(refused.value)


def test_null_counts_as_missing(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path, "sandbox: {isolation: null, max_concurrency: null}\ndataset: {registry: null, cpu_runner_url: null}\n"
    )
    assert (settings.isolation, settings.origin["max_concurrency"], settings.dataset.registry) == ("namespaces", "default", ())


@pytest.mark.parametrize("named", ["prod", "missing.yaml", "../../etc", "/"])
def test_a_name_that_leads_nowhere_is_refused(named: str) -> None:
    with pytest.raises(InvalidRequest, match=r"local|cannot be read"):
        load(environ={"SANDBOX_CONFIG": named})


def test_the_settings_command_tells_where_each_came_from(tmp_path: Path) -> None:
    done = sandbox("settings", SANDBOX_CONFIG="ci", cwd=tmp_path)
    told = done.stdout.decode()
    assert done.returncode == 0 and "SANDBOX_CONFIG ci.yaml" in told and "dataset.max_runner_concurrency" in told


def test_the_settings_command_tells_no_password(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("dataset: {database: {backend: {type: mysql, password: hush}}}\n")
    for form in ([], ["--json"]):
        done = sandbox("settings", *form, SANDBOX_CONFIG="own.yaml", cwd=tmp_path)
        assert done.returncode == 0 and b"hush" not in done.stdout and b"database.kind" in done.stdout
