import target

SPEAK = """
import os, socket, stat, struct, json
def ends():
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                yield socket.socket(fileno=os.dup(number))
        except OSError:
            pass
def say(data):
    for end in ends():
        try:
            end.settimeout(1)
            end.sendall(data)
        except OSError:
            pass
def message(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return struct.pack('>I', len(text)) + text
"""

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
        server.request("POST", f"{context}/execute", {"code": SPEAK + f"say({text})", "timeout": 10}, wait_s=30)
        server.request("DELETE", context)
    server.must(server.cell(server.context(session), "print('fresh')")["stdout"] == "fresh\n", "no context could be opened afterwards")
    return f"{len(MESSAGES)} malformed messages harmed nobody else"


target.run(attack)
