import time

import target

FILL = "open('large', 'wb').write(b'x' * (48 << 20)); print('full')"


def attack(server):
    before = _shared()
    sessions = [server.session(disk="64Mi") for _ in range(3)]
    for session in sessions:
        said = server.execute(session, FILL)
        server.must(said.get("stdout") == "full\n", f"the file was not written: {str(said)[:200]}")
    for session in sessions:
        server.request("DELETE", f"{target.SESSIONS}/{session}")
    end = time.monotonic() + 20
    while (left := _shared() - before) > (48 << 20) and time.monotonic() < end:
        time.sleep(0.1)
    server.must(left <= (48 << 20), f"{left >> 20} MiB are still held after the sessions were deleted")
    return "what sessions held is given back"


def _shared():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("Shmem:"))


target.run(attack)
