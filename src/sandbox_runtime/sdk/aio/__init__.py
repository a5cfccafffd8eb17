"""The asynchronous client. The package `blocking` is generated from this one by scripts/unasync.py: change this one, then run
`make twin`."""
