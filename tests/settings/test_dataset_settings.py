"""Where rows of datasets are looked for, from settings and from a configuration file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_runtime.assembly import build_row_options
from sandbox_runtime.settings import Settings, load


def configured(folder: Path, text: str) -> Settings:
    (folder / "conf.yaml").write_text(text)
    return load({"state_dir": str(folder)}, environ={"SANDBOX_CONFIG": str(folder / "conf.yaml")})


def test_the_folder_of_tables_is_with_what_is_kept(tmp_path: Path) -> None:
    assert Settings(state_dir=str(tmp_path)).tables_dir == f"{tmp_path}/datasets"
    assert Settings(state_dir=str(tmp_path), datasets_dir="/srv/rows").tables_dir == "/srv/rows"


def test_samples_can_be_switched_off(tmp_path: Path) -> None:
    assert build_row_options(Settings(state_dir=str(tmp_path))).samples is not None
    assert build_row_options(Settings(state_dir=str(tmp_path), dataset_samples=False)).samples is None


@pytest.mark.requirement("judge-7.10")
def test_a_configuration_file_names_folders_and_a_database(tmp_path: Path) -> None:
    settings = configured(
        tmp_path,
        """
dataset:
  database:
    cache:
      path: memory
      sources:
        - {type: local, path: /srv/tables}
        - {type: mysql, tables: [{name: code_eval_x, columns: [id]}]}
    backend: {type: mysql, user: judge, password: "p@ss/word", host: lake.example.org, port: "3307", psm: rows}
""",
    )
    options = build_row_options(settings)
    assert options.folders == (f"{tmp_path}/datasets", "/srv/tables")
    assert options.datalake_url == "mysql://judge:p%40ss%2Fword@lake.example.org:3307/rows"


def test_a_setting_goes_before_the_configuration_file(tmp_path: Path) -> None:
    settings = configured(tmp_path, "dataset: {database: {backend: {type: mysql, host: a, psm: b}}}")
    assert settings.effective_datalake_url == "mysql://a/b"
    given = load(
        {"state_dir": str(tmp_path), "datalake_url": "mysql://c/d"}, environ={"SANDBOX_CONFIG": str(tmp_path / "conf.yaml")}
    )
    assert given.effective_datalake_url == "mysql://c/d"
    assert configured(tmp_path, "dataset: {database: {backend: {type: none}}}").effective_datalake_url == ""
