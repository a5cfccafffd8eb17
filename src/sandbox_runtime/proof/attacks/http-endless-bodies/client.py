import contextlib

import target

PIECES = 100


def attack(server):
    piece = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    with server.connect(20.0) as sock:
        sock.sendall(server.head("POST /run_code HTTP/1.1", "Transfer-Encoding: chunked", "Content-Type: application/json"))
        sent, answer = 0, b""
        with contextlib.suppress(OSError):
            for sent in range(PIECES):
                sock.sendall(piece)
            sock.sendall(b"0\r\n\r\n")
        with contextlib.suppress(OSError):
            answer = sock.recv(65536)
    server.must(answer[9:12] in (b"413", b"400") or sent < PIECES - 1, f"{sent + 1} MiB were taken: {answer[:60]!r}")
    return f"refused with {answer[9:12].decode() or 'a closed connection'}"


target.run(attack)
