import contextlib

import target

PIECES = 100


def attack(server):
    piece = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    with server.connect(20.0) as sock:
        sock.sendall(server.head("POST /run_code HTTP/1.1", "Transfer-Encoding: chunked", "Content-Type: application/json"))
        sent, answer = 0, b""
        with contextlib.suppress(OSError):
            while sent < PIECES:
                sock.sendall(piece)
                sent += 1
            sock.sendall(b"0\r\n\r\n")
        with contextlib.suppress(OSError):
            answer = sock.recv(65536)
    server.must(answer[9:12] in (b"413", b"400") or sent < PIECES, f"{sent} MiB were taken: {answer[:60]!r}")
    return f"refused with {answer[9:12].decode() or 'a closed connection'}"


target.run(attack)
