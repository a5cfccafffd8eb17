import target


def attack(server):
    hidden = b"GET /v1/ping HTTP/1.1\r\nHost: x\r\nX-Hidden: 1\r\n\r\n"
    chunked = b"0\r\n\r\n"
    length = len(chunked + hidden)
    heads = [
        (f"Content-Length: {length}", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", f"Content-Length: {length}"),
        (f"Content-Length: {length}", "Content-Length: 0"),
        ("Content-Length: 0", f"Content-Length: {length}"),
        (f"Content-Length: 0, {length}",),
        (f"Content-Length: +{length}",),
        (f"Content-Length: {length:#x}",),
        ("Content-Length: -1",),
        ("Content-Length: 1e3",),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding: chunked, identity",),
        ("Transfer-Encoding: identity, chunked",),
        (f"Content-Length: {length}", "Transfer-Encoding : chunked"),
        (f"Content-Length: {length}", "Transfer-Encoding:\x0bchunked"),
        (f"Content-Length: {length}", " Transfer-Encoding: chunked"),
        (f"Content-Length : {length}",),
    ]
    for head in heads:
        raw = server.head("POST /run_code HTTP/1.1", *head, key=None) + chunked + hidden
        answer = server.raw(raw, wait_s=2.0)
        second = answer.count(b"HTTP/1.1 200")
        server.must(second == 0, f"a request hidden behind {head} was answered")
    return f"{len(heads)} conflicting lengths hid no request"


target.run(attack)
