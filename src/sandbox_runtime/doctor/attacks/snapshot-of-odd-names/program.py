import probe

for name in (b"line\nbreak", b"bytes\xff\xfe", b"\xe2\x80\xae", b"-rf", b"..\n", b"' OR 1", b"%2e%2e", b"a" * 255, b"\x1b[2J"):
    with open(name, "wb") as file:
        file.write(name)
probe.held("odd names are laid")
