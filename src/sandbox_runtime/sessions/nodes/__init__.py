"""Nodes: the machines that hold boxes."""
