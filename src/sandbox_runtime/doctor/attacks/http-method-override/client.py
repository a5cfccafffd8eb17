import target

HEADERS = ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method")


def attack(server):
    session = server.session()
    own = f"{target.SESSIONS}/{session}"
    for name in HEADERS:
        for method in ("GET", "HEAD", "OPTIONS"):
            server.request(method, own, key="read", headers={name: "DELETE"})
            server.request(method, f"{own}?_method=DELETE", key="read")
    answer = server.request("GET", own)
    server.must(answer.status == 200 and answer.json().get("status") != "terminated", "a session was deleted by a GET")
    for path in (f"{own}/terminate", f"{own}/pause", f"{own}/fork", "/workspace/se/cleanup-all"):
        got = server.request("GET", path, key="read")
        server.must(got.status in (403, 404, 405), f"GET {path} acted: {got.status}")
    return "no header changed the method"


target.run(attack)
