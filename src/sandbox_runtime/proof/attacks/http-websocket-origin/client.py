import base64
import os

import target


def upgrade(server, path, *headers, key="own"):
    lines = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode())
    return server.raw(server.head(f"GET {path} HTTP/1.1", *lines, *headers, key=key), wait_s=2.0)


def attack(server):
    keyless = target.Server({**server.facts, "url": server.facts["keyless_url"], "keys": {}})
    made = keyless.request("POST", target.SESSIONS, {"template_id": "python-basic"})
    session = made.json()["id"]
    try:
        execution = keyless.execute(session, "print('the secret')")["id"]
        path = f"/api/v1/executions/{execution}/ws"
        for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
            answer = upgrade(keyless, path, f"Origin: {origin}", key=None)
            server.must(not answer.startswith(b"HTTP/1.1 101"), f"a page of {origin} opened a stream")
    finally:
        keyless.request("DELETE", f"{target.SESSIONS}/{session}")
    return "pages of other sites opened no stream"


target.run(attack)
