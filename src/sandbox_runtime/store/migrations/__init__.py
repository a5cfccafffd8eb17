"""How tables came to be what they are, one file for each revision, run by alembic.

Contract: a revision that was published never changes. Every step can be repeated: MariaDB commits at each change of a table, so a
process that dies in the middle leaves half a revision, and the next one that starts goes on from there.
"""
