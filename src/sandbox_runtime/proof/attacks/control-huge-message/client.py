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


def attack(server):
    session = server.session()
    context = server.context(session)
    code = SPEAK + "say(struct.pack('>I', 0xffffffff)); say(b'x' * (64 << 20)); print('alive')"
    server.request("POST", f"{context}/execute", {"code": code, "timeout": 20}, wait_s=40)
    server.must(server.ping_s() < 5.0, "other clients had to wait")
    server.must(server.cell(server.context(session), "print('fresh')")["stdout"] == "fresh\n", "no context could be opened afterwards")
    return "the channel was closed, and the server went on"


target.run(attack)
