import target


def attack(server):
    session = server.session()
    mine, victim = server.context(session), server.context(session)
    server.cell(victim, "x = 'real'")
    forged = "say(message({'event': 'display', 'data': {'text/plain': 'forged'}})); say(message({'event': 'done'}))"
    server.cell(mine, target.SPEAK + forged * 1)
    told = server.cell(victim, "print(x)")
    server.must(told["stdout"] == "real\n" and "forged" not in str(told), f"the result of another context was forged: {told}")
    after = server.cell(mine, "print('after')")
    said, wrong = after.get("stdout"), str(after.get("error_message"))
    server.must(
        said == "after\n" or "Kernel" in wrong, f"a message of an earlier cell stands for a later one: {said!r} {wrong[:100]}"
    )
    own = server.execute(
        session, target.SPEAK + "say(message({'event': 'done', 'value': 'forged'}))\ndef handler(event):\n    return 'real'"
    )
    server.must(own.get("status") in ("completed", "failed"), f"the execution did not end: {str(own)[:100]}")
    return "messages change no result but the sender's own"


target.run(attack)
