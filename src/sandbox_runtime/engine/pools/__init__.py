"""Pools of boxes that are open before a job needs one."""
