from pathlib import Path

Path("output.txt").write_bytes(Path("input.txt").read_bytes())
