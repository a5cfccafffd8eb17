"""Packages of sessions: requirements, and their installation."""
