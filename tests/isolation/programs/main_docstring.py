"""What the program says of itself."""

counted: int = 3
named: "list[str]"
print(__doc__, __annotations__)
