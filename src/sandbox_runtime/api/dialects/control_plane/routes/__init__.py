"""Thin: each route is one verb of sessions between two translations."""
