"""Nodes: the machines that host sessions."""
