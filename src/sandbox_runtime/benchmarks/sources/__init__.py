"""Source text of other languages, put together and taken apart: pure steps, one language a file.

Contract: no step takes longer than in proportion to the text, and none understands more of a language than it needs to.
"""
