"""One run: a plan in a box, many inputs of one build, two programs joined, and who may take a step now."""
