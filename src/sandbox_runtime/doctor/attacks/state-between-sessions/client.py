import secrets

import target

PLANT = """
import os, subprocess, sys
for place in ('.', '/tmp', '/dev/shm', os.path.expanduser('~')):
    try:
        open(f'{{place}}/{mark}', 'w').write('{mark}')
    except OSError:
        pass
sys.path.append('{mark}'); os.environ['MARK'] = '{mark}'
child = subprocess.Popen(['sleep', '301'])
"""
LOOK = """
import os, sys
print(sys.path, dict(os.environ))
for place in ('.', '/tmp', '/dev/shm', os.path.expanduser('~')):
    try:
        print(os.listdir(place))
    except OSError:
        pass
for name in os.listdir('/proc'):
    try:
        print(open(f'/proc/{name}/cmdline').read())
    except OSError:
        pass
"""


def attack(server):
    one, other = server.session(), server.session()
    mark = f"mark-{secrets.token_hex(8)}"
    first = server.context(one)
    server.cell(first, PLANT.format(mark=mark))
    said = server.cell(server.context(other), LOOK)["stdout"] + server.execute(other, LOOK)["stdout"]
    server.must(len(said) > 100, "the other session did not answer")
    for word in (mark, "sleep\x00301"):
        server.must(word not in said, f"{word!r} of one session is seen in another")
    request = server.request("POST", "/run_code", {"code": LOOK, "language": "python"})
    server.must(mark not in request.text, "a program run by itself sees a session's state")
    return "sessions share nothing"


target.run(attack)
