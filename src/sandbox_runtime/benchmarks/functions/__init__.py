"""Functions to be completed, in many languages: what a language's rows look like and how an answer becomes a program.

Contract: pure text. `tongues` has one value per language; `joining` puts prompt, completion and tests together for models that
go on with a text; `answers` does it for models that answer with a block of code.
"""
