"""The `sandbox` command: argument parsing and printing.

One module per command, each with `register(app)`. Heavy packages are imported when a command runs, so that `sandbox version`
starts fast. The only package that imports typer, rich and uvicorn.
"""
