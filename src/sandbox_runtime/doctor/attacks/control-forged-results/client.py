import target

FORGE = """
import threading, time
def forge():
    for _ in range(40):
        say(message({'event': 'display', 'cell': 0, 'data': {'text/plain': 'forged'}}))
        say(message({'event': 'done', 'cell': 0, 'how': 'ok'}))
        time.sleep(0.05)
threading.Thread(target=forge, daemon=True).start()
"""


def attack(server):
    session = server.session()
    mine, victim = server.context(session), server.context(session)
    server.cell(victim, "x = 'real'")
    server.cell(mine, target.SPEAK + FORGE)
    told = server.cell(victim, "print(x)")
    server.must(told["stdout"] == "real\n" and "forged" not in str(told), f"the result of another context was forged: {told}")
    later = server.cell(mine, "time.sleep(1)\nprint('later')")
    forged = later.get("stdout") != "later\n" or "forged" in str(later.get("displays"))
    server.must(not forged, f"an earlier cell forged the end of a later one: {later.get('stdout')!r} {later.get('displays')}")
    return "messages change no result of another cell"


target.run(attack)
