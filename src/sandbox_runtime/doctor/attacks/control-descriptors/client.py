import target

LOOK = """
import os
seen = set()
for name in os.listdir('/proc'):
    if not name.isdigit():
        continue
    try:
        for number in os.listdir(f'/proc/{name}/fd'):
            link = os.readlink(f'/proc/{name}/fd/{number}')
            if link.startswith('socket:'):
                seen.add(link)
    except OSError:
        pass
print(' '.join(sorted(seen)))
"""


def attack(server):
    session = server.session()
    one, other = server.context(session), server.context(session)
    sockets = [set(server.cell(where, LOOK)["stdout"].split()) for where in (one, other)]
    shared = sockets[0] & sockets[1]
    server.must(bool(sockets[0]) and not shared, f"two contexts share {shared or 'nothing, and see no socket at all'}")
    return "every context sees its own channel alone"


target.run(attack)
