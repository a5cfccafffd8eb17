import target


def attack(server):
    session = server.session()
    execution = server.execute(session, "print('the secret')")["id"]
    path = f"/api/v1/executions/{execution}/ws"
    for headers in ((), ("Authorization: Bearer x",), ("X-API-Key: x",), ("Sec-WebSocket-Protocol: bearer, x",)):
        answer = server.upgrade(path, *headers, key=None)
        server.must(not answer.startswith(b"HTTP/1.1 101"), f"a stream was opened without a key: {headers}")
    if server.keys.get("other"):
        answer = server.upgrade(path, key="other")
        server.must(b"the secret" not in answer, "another owner saw the stream")
    return "no stream was opened"


target.run(attack)
