import base64
import os

import target


def upgrade(server, path, *headers, key="own"):
    lines = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode())
    return server.raw(server.head(f"GET {path} HTTP/1.1", *lines, *headers, key=key), wait_s=2.0)


def attack(server):
    session = server.session()
    execution = server.execute(session, "print('the secret')")["id"]
    path = f"/api/v1/executions/{execution}/ws"
    for headers in ((), ("Authorization: Bearer x",), ("X-API-Key: x",), ("Sec-WebSocket-Protocol: bearer, x",)):
        answer = upgrade(server, path, *headers, key=None)
        server.must(not answer.startswith(b"HTTP/1.1 101"), f"a stream was opened without a key: {headers}")
    if server.keys.get("other"):
        answer = upgrade(server, path, key="other")
        server.must(b"the secret" not in answer, "another owner saw the stream")
    return "no stream was opened"


target.run(attack)
