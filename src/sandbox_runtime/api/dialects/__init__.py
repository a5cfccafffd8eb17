"""The wire protocols, one folder each. Dialects do not import each other."""
