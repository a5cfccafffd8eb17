import target


def attack(server):
    session = server.session(disk="8Mi")
    statuses = []
    for number in range(12):
        answer = server.request("PUT", f"{target.SESSIONS}/{session}/files/part{number}", bytes(1 << 20))
        statuses.append(answer.status)
    server.must(any(status >= 400 for status in statuses), "12 MiB were put into a session of 8 MiB")
    server.must(500 not in statuses, f"the server failed: {statuses}")
    used = server.execute(session, "import os; s = os.statvfs('.'); print((s.f_blocks - s.f_bfree) * s.f_frsize)")
    if used.get("stdout", "").strip().isdigit():
        server.must(int(used["stdout"]) <= (8 << 20), f"{used['stdout']} bytes are in use")
    return f"refused after {sum(status < 300 for status in statuses)} MiB"


target.run(attack)
