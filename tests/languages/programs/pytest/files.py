from pathlib import Path


def test_copies():
    Path("output.txt").write_bytes(Path("input.txt").read_bytes())
