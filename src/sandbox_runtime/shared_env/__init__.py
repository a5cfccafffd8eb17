"""The server under its older module name, for deployments of the workspace interface.

    python -m sandbox_runtime.shared_env.server --port 8000
    uvicorn sandbox_runtime.shared_env.server:app --port 8000

The same server as `sandbox serve`, with the options, port and environment variables of the older one.
"""
