"""Prompts for typical work with sandboxes: values in `prompts`, made of parts (`combining`), with arguments that are checked."""
