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
    waits = server.pings_while([server.context(session), server.context(session)], target.SPEAK + FLOOD)
    usual, slowest = sorted(waits)[len(waits) // 2], max(waits)
    server.must(usual < 0.5 and slowest < 1.5, f"a ping took {slowest:.1f} s while contexts flooded")
    return f"the slowest of {len(waits)} pings took {slowest * 1000:.0f} ms"


target.run(attack)
