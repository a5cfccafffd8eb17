"""Settings of datasets: where their rows are."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class DatasetSettings:
    datasets_dir: str = setting(
        "",
        "path",
        "Folder with the rows of datasets, each in `<table>.jsonl` or `<table>.jsonl.gz`; `sandbox datasets add` writes them.",
        "datasets",
        default_text="`datasets` in state_dir where that is set, otherwise in `/var/lib/sandbox-runtime` as root and in "
        "`~/.local/share/sandbox-runtime` as another user",
    )
    datalake_url: str = setting(
        "",
        "URL",
        "Database that is queried for rows missing in the folder: `mysql://…` (MariaDB), `postgresql://…` or `sqlite:///…`.",
        "datasets",
        secret=True,
    )
    dataset_samples: bool = setting(
        True,
        "yes or no",
        "Use the sample rows of this package for datasets without rows of their own.",
        "datasets",
    )
