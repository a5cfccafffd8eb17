import probe

NAMES = (b"line\nbreak", b"bytes\xff\xfe", b"\xe2\x80\xae", b"-rf", b"..\n", b"' OR 1", b"%2e%2e", b"a" * 255, b"\x1b[2J")
for name in NAMES:
    try:
        with open(name, "rb") as file:
            content = file.read()
    except OSError as error:
        probe.escaped(f"{name!r} is lost: {error}")
    if content != name:
        probe.escaped(f"{name!r} holds another file")
probe.held("every name came back with its own content")
