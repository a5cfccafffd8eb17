"""What the client programs of the corpus share. Runs in processes of its own on the host: standard library only."""
