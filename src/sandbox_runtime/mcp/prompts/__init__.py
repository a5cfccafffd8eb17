"""Prompts for typical work with sandboxes: values in `prompts`, each a text with places for arguments."""
