"""Convert between schemas and the model. No I/O."""
