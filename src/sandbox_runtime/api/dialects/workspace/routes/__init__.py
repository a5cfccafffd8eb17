"""Routes of this dialect."""
