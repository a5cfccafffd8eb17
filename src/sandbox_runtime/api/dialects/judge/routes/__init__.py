"""The routes of this dialect."""
