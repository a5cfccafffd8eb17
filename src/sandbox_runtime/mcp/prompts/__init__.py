"""Prompts for typical work with sandboxes: values in `prompts`, built from `body` combinators, with checked `arguments`."""
