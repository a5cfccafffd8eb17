"""The routes of this dialect, a file for each kind of thing."""
