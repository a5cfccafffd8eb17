import target

HOSTS = (
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:80",
    "0.0.0.0",
    "[::ffff:8.8.8.8]",
    "",
    "a b",
    "evil.example#localhost",
)


def attack(server):
    keyless = server.keyless()
    body = b'{"code": "print(1)", "language": "python"}'
    for host in HOSTS:
        lines = ("POST /run_code HTTP/1.1", f"Host: {host}", "Content-Type: application/json", f"Content-Length: {len(body)}")
        answer = keyless.raw("\r\n".join((*lines, "Connection: close", "", "")).encode() + body)
        server.must(not answer.startswith(b"HTTP/1.1 2"), f"a server without keys answered to {host!r}")
    return f"{len(HOSTS)} names of others were refused"


target.run(attack)
