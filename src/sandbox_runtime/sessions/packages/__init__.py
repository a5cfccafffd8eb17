"""Packages installed into sessions."""
