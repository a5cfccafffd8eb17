import target

START = """
import os, subprocess, socket
child = subprocess.Popen(['sleep', '300'])
one, other = os.pipe()
left, right = socket.socketpair()
listening = socket.socket(); listening.bind(('127.0.0.1', 0)); listening.listen()
port = listening.getsockname()[1]
"""
TRY = """
import signal
found = []
for name in os.listdir('/proc'):
    if name.isdigit():
        try:
            found.append(open(f'/proc/{name}/cmdline').read())
        except OSError:
            pass
for attempt in (lambda: os.write(other, b'planted'), lambda: left.send(b'planted'), lambda: os.kill(child.pid, signal.SIGKILL)):
    try:
        attempt()
    except OSError:
        pass
try:
    socket.create_connection(('127.0.0.1', port), timeout=1).send(b'planted')
    print('connected')
except OSError:
    pass
print(any('sleep' in text for text in found))
"""
LOOK = """
import select
listening.settimeout(0.2)
try:
    listening.accept(); print('accepted')
except OSError:
    pass
print(child.poll(), bool(select.select([one, right], [], [], 0)[0]))
"""


def attack(server):
    session = server.session()
    context = server.context(session)
    server.must(server.cell(context, START)["status"] == "completed", "the child did not start")
    ((_, inside),) = server.fork(session)
    said = server.cell(inside, TRY)["stdout"].split()
    server.must("True" not in said, "a fork sees a process of its origin")
    seen = server.cell(context, LOOK)["stdout"].split()
    server.must(seen == ["None", "False"], f"a fork reached its origin: {seen}")
    return "a fork reaches neither processes nor pipes of its origin"


target.run(attack)
