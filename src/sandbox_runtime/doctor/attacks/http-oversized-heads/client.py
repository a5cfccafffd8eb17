import target


def attack(server):
    heads = [
        server.head("GET /v1/ping HTTP/1.1", "X-Long: " + "x" * 1_000_000, key=None),
        server.head("GET /v1/ping HTTP/1.1", *(f"X-{n}: {n}" for n in range(60_000)), key=None),
        server.head(f"GET /v1/ping?{'x' * 1_000_000} HTTP/1.1", key=None),
        server.head("GET /v1/ping HTTP/1.1", "X" * 1_000_000 + ": 1", key=None),
    ]
    for head in heads:
        answer = server.raw(head)
        server.must(not answer.startswith(b"HTTP/1.1 2"), f"a head of {len(head)} bytes was taken")
    return "heads without a bound were refused"


target.run(attack)
