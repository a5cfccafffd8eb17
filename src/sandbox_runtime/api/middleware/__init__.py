"""Middleware: checks of origin, key, rate and body size, and compression of responses."""
