import threading

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

FLOOD = SPEAK + """
import time
piece = message({'event': 'display', 'data': {'text/plain': 'x' * 20}}) * 2000
end = time.monotonic() + 3
while time.monotonic() < end:
    say(piece)
"""


def attack(server):
    session = server.session()
    contexts = [server.context(session) for _ in range(2)]
    waits = _while_running(server, contexts, FLOOD)
    server.must(sorted(waits)[len(waits) // 2] < 0.5 and max(waits) < 3.0, f"a ping took {max(waits):.1f} s while contexts flooded")
    return f"the slowest of {len(waits)} pings took {max(waits) * 1000:.0f} ms"


def _while_running(server, contexts, code):
    def run(context):
        try:
            server.request("POST", f"{context}/execute", {"code": code, "timeout": 15}, wait_s=50)
        except OSError:
            pass

    threads = [threading.Thread(target=run, args=(context,)) for context in contexts]
    for thread in threads:
        thread.start()
    waits = [server.ping_s()]
    while any(thread.is_alive() for thread in threads):
        waits.append(server.ping_s())
        threads[0].join(0.05)
    return waits


target.run(attack)
