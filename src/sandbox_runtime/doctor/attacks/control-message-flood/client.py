import target

FLOOD = """
import time
piece = message({'event': 'display', 'data': {'text/plain': 'x' * 20}}) * 2000
end = time.monotonic() + 3
while time.monotonic() < end:
    say(piece)
"""


def attack(server):
    session = server.session()
    return server.hold_pings_while([server.context(session), server.context(session)], target.SPEAK + FLOOD)


target.run(attack)
