import target

HOSTS = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80", "0.0.0.0", "[::ffff:8.8.8.8]", "", "a b", "evil.example#localhost")


def attack(server):
    keyless = target.Server({**server.facts, "url": server.facts["keyless_url"], "keys": {}})
    body = b'{"code": "print(1)", "language": "python"}'
    for host in HOSTS:
        head = f"POST /run_code HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        answer = keyless.raw(head.encode() + body)
        server.must(not answer.startswith(b"HTTP/1.1 2"), f"a server without keys answered to {host!r}")
    return f"{len(HOSTS)} names of others were refused"


target.run(attack)
