import target

CODES = (
    "say(struct.pack('>I', 0xffffffff)); say(b'x' * (32 << 20))",
    "say(b'x' * 1000)",
    "say(message({'value': 'forged', 'ok': True}) * 10000)",
    "say(message(b'[' * 100000))",
)


def attack(server):
    session, other = server.session(), server.session()
    for code in CODES:
        told = server.execute(
            session, f"{target.SPEAK}\ndef handler(event):\n    {code}\n    return 'real'", wait_s=50, timeout=2
        )
        server.must(told.get("status") not in (None, "running"), f"the execution did not end: {str(told)[:100]}")
        told = server.execute(other, "def handler(event):\n    return 'real'")
        server.must(told.get("return_value") == "real", f"the value of another session's handler was forged: {str(told)[:200]}")
    server.must(server.ping_s() < 5.0, "other clients had to wait")
    return "no value of another handler was changed"


target.run(attack)
