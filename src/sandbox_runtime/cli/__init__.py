"""The `sandbox` command: argument parsing and printing; every command is one call.

Contract: one file a command, each with `register(app)`. Heavy rooms are imported when a command runs, so that `sandbox version`
answers at once. The only room that imports typer, rich and uvicorn.
"""
