import target


def attack(server):
    session = server.session()
    context = server.context(session)
    code = target.SPEAK + "say(struct.pack('>I', 0xffffffff)); print('TAKEN', say(b'x' * (64 << 20)), flush=True)"
    answer = server.request("POST", f"{context}/execute", {"code": code, "timeout": 5}, wait_s=40)
    server.must("TAKEN True" not in answer.text, "64 MiB of one message were taken")
    server.must(server.ping_s() < 5.0, "other clients had to wait")
    server.must(
        server.cell(server.context(session), "print('fresh')")["stdout"] == "fresh\n", "no context could be opened afterwards"
    )
    return "the channel was closed, and the server went on"


target.run(attack)
