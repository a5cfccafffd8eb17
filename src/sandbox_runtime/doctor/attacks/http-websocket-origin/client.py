import target


def attack(server):
    server.session()
    keyless = server.keyless()
    made = keyless.request("POST", target.SESSIONS, {"template_id": "python-basic"})
    session = made.json()["id"]
    try:
        execution = keyless.execute(session, "print('the secret')")["id"]
        path = f"/api/v1/executions/{execution}/ws"
        for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
            answer = keyless.upgrade(path, f"Origin: {origin}", key=None)
            server.must(not answer.startswith(b"HTTP/1.1 101"), f"a page of {origin} opened a stream")
    finally:
        keyless.request("DELETE", f"{target.SESSIONS}/{session}")
    return "pages of other sites opened no stream"


target.run(attack)
