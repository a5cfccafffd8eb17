"""The client of sessions for an event loop. The package `blocking` beside it is made from this one by scripts/unasync.py: change
this one, then run `make twin`."""
