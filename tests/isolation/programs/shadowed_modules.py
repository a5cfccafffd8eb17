from pathlib import Path

Path("turtle.py").write_text("mine = True\n")
import turtle  # noqa: E402

print(turtle.mine, turtle.__file__)
