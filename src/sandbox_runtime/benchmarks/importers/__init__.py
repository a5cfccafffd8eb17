"""Datasets in the forms in which their authors publish them, made into rows of ours.

Contract: pure. A file comes as its name and its bytes (JSON, JSON lines, either packed with gzip, or a zip archive of texts); its
form is recognised by the columns of its records, and by its name only where two forms have the same columns. `read_published`
takes the files of one dataset together: problems, and beside them what completes them, such as descriptions or solutions. Records
without which nothing can be judged are refused with a reason, never read into rows that accept anything.
"""

from sandbox_runtime.benchmarks.importers.formats import Table, read_published
from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, parse_file

__all__ = ["PublishedFile", "Table", "parse_file", "read_published"]
