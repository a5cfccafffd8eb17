import target

MESSAGES = (
    "message(b'')",
    "message(b'\\xff\\xfe')",
    "message(b'[' * 50000)",
    "message(b'1' * 50000)",
    "message(b'{\"event\": NaN}')",
    "message([1, 2])",
    "message({'event': 'no-such-event', 'x': {}})",
    "message({'event': 'display', 'data': 7})",
    "message({'event': 'error', 'ename': {}, 'evalue': [], 'traceback': 'x'})",
    "message({'event': 'done', 'cell': -1})",
    "message({'event': 'ready', 'can_fork': 'yes'})",
    "struct.pack('>I', 0)",
    "b'GET / HTTP/1.1\\r\\n\\r\\n'",
)


def attack(server):
    session = server.session()
    for text in MESSAGES:
        context = server.context(session)
        answer = server.request("POST", f"{context}/execute", {"code": target.SPEAK + f"say({text})", "timeout": 3}, wait_s=30)
        server.must(answer.status == 200, f"{text}: {answer.status}")
        # Behind its length, it is a message that means nothing: the interpreter goes on, and so must we.
        framed = text.startswith("message(")
        server.must(not framed or answer.json()["status"] == "completed", f"{text} ended the context: {answer.json()['status']}")
        server.request("DELETE", context)
    server.must(
        server.cell(server.context(session), "print('fresh')")["stdout"] == "fresh\n", "no context could be opened afterwards"
    )
    return f"{len(MESSAGES)} malformed messages harmed nobody else"


target.run(attack)
