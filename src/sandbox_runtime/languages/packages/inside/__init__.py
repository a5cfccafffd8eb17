"""Programs that run in boxes, with the standard library alone, and fetch packages whose own clients cannot be there.

They are written into the box as they are (see kits.py), so they import each other and nothing else. Answers of registries are
nobody's word: names in them become names of files only where they are plain, sizes and counts are bounded.
"""
