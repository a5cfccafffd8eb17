"""Prompts for typical work with sandboxes: values in `prompts`, made of parts (`combining`), their arguments checked (`checking`)."""
