"""The server under the name that clients of the workspace interface know it by.

    python -m sandbox_runtime.shared_env.server --port 8000
    uvicorn sandbox_runtime.shared_env.server:app --port 8000

Contract: the same server as `sandbox serve`, with the flags, the port and the environment names of that older one. Decides
nothing and serves nothing of its own.
"""
