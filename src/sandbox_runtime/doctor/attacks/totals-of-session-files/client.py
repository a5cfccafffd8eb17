import target

EACH = 72 << 20
SESSIONS = 9
FILL = f"""
with open('large', 'wb') as file:
    for _ in range({EACH >> 20}):
        file.write(b'x' * (1 << 20))
"""


def attack(server):
    server.session()
    most = server.facts["limits"]["storage_memory_bytes"]
    before, refusals = _shared(), []
    for _ in range(SESSIONS):
        answer = server.request("POST", target.SESSIONS, {"template_id": "python-basic", "disk": "96Mi"}, wait_s=60)
        if answer.status != 201:
            server.must(answer.status in (429, 507), f"refused with {answer.status}: {answer.text[:100]}")
            refusals.append(answer.status)
            continue
        server.delete_later(answer.json()["id"])
        server.execute(answer.json()["id"], FILL)
    held = _shared() - before
    server.must(held <= most + EACH, f"sessions hold {held >> 20} MiB of a node that may hold {most >> 20} MiB for them")
    return f"{held >> 20} MiB are held at the most; {len(refusals)} sessions were refused"


def _shared():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Shmem:"))


target.run(attack)
