"""What runs in the box beside the caller's code. Standard library, and the steps of extraction that are sent along."""
