"""Where the rows of datasets are and how one of them is found.

Contract: a table is read when it is first asked for, and only the places of its rows are kept, never the rows. Rows are ordered
by their id. Where several sources have a table of one name, the first of them counts. What is packed in a row is unpacked
without running any of it.
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
