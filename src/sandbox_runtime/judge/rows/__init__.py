"""Sources of dataset rows, and the lookup of one row.

Contract: a table is read on first use; only the offsets of its rows stay in memory, not the rows. Rows are ordered by id. If
several sources have a table of the same name, the first source counts. Packed columns are unpacked without executing anything.
"""

from sandbox_runtime.judge.rows.folder import FolderRows
from sandbox_runtime.judge.rows.port import RowId, RowSource, check_table, row_names
from sandbox_runtime.judge.rows.rows import Rows
from sandbox_runtime.judge.rows.safe_unpickle import unpack_tests
from sandbox_runtime.judge.rows.sources import RowOptions, open_rows
from sandbox_runtime.judge.rows.values import json_column, provided_row, provided_rows

__all__ = [
    "FolderRows",
    "RowId",
    "RowOptions",
    "RowSource",
    "Rows",
    "check_table",
    "json_column",
    "open_rows",
    "provided_row",
    "provided_rows",
    "row_names",
    "unpack_tests",
]
