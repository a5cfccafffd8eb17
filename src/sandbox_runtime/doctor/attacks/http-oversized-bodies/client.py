import target


def attack(server):
    for length in ("999999999999", "99999999999999999999999999"):
        head = server.head("POST /run_code HTTP/1.1", f"Content-Length: {length}", "Content-Type: application/json")
        answer = server.raw(head + b"{", wait_s=3.0)
        refused = answer.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400"))
        server.must(refused, f"a body of {length} bytes was waited for: {answer[:40]!r}")
    path = f"{target.SESSIONS}/none/files/planted"
    head = server.head(f"PUT {path} HTTP/1.1", "Content-Length: 999999999999")
    answer = server.raw(head + b"x", wait_s=3.0)
    server.must(
        answer.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400")), f"an upload without a bound was waited for: {answer[:40]!r}"
    )
    return "bodies without a bound were refused before they came"


target.run(attack)
