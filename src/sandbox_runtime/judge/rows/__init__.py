"""Where the rows of datasets are and how one of them is found.

Contract: a table is read when it is first asked for, and only the places of its rows are kept, never the rows. Rows are ordered
by their id. Where several sources have a table of one name, the first of them counts.
"""

from sandbox_runtime.judge.rows.json_text import ensure_json

__all__ = ["ensure_json"]
