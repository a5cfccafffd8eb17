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
    mine, victim = server.context(session), server.context(session)
    server.cell(victim, "x = 'real'")
    forged = "say(message({'event': 'display', 'data': {'text/plain': 'forged'}})); say(message({'event': 'done'}))"
    server.cell(mine, SPEAK + forged * 1)
    told = server.cell(victim, "print(x)")
    server.must(told["stdout"] == "real\n" and "forged" not in str(told), f"the result of another context was forged: {told}")
    after = server.cell(mine, "print('after')")
    server.must(after["stdout"] == "after\n", f"a message of an earlier cell ended a later one: {[after[k] for k in ('status', 'stdout', 'stderr', 'error_message')]}")
    own = server.execute(session, SPEAK + "say(message({'event': 'done', 'value': 'forged'}))\ndef handler(event):\n    return 'real'")
    server.must(own.get("status") in ("completed", "failed"), f"the execution did not end: {str(own)[:100]}")
    return "messages change no result but the sender's own"


target.run(attack)
