"""Code shared by the client programs of the corpus. Runs in separate processes on the host: standard library only."""
