"""Run one plan in a box, many inputs of one build, or two interactive programs; limit concurrent steps."""
