"""Code that runs in the box beside the caller's code. Uses the standard library and the extraction modules sent with it."""
