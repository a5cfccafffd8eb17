import target

STRANGE = ("nan", "NaN", "inf", "-inf", "-1", "-1Mi", "1e400", "9" * 400, "1;2")
RAW = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1", b"9" * 400)


def attack(server):
    server.session()
    for field in ("cpu", "memory", "disk"):
        for value in STRANGE:
            _refused(server, {"template_id": "python-basic", field: value}, f"{field} {value[:20]!r}")
            limit = {"cpu": "1", "memory": "512Mi", "disk": "64Mi", field: value}
            _refused(server, {"template_id": "python-basic", "resource_limit": limit}, f"resource_limit {field} {value[:20]!r}")
    for value in RAW:
        for field in (b"timeout", b"cpu", b"memory", b"disk"):
            body = b'{"template_id": "python-basic", "%s": %s}' % (field, value)
            _refused(server, body, body[:80].decode())
    for value in RAW:
        answer = server.request("POST", "/run_code", b'{"code": "print(1)", "language": "python", "run_timeout": %s}' % value)
        server.must(answer.status in (400, 422), f"run_timeout {value[:20]!r} was taken: {answer.status}")
    return "every strange number was refused"


def _refused(server, body, what):
    answer = server.request("POST", target.SESSIONS, body)
    if answer.status == 201:
        server.delete_later(answer.json()["id"])
    server.must(400 <= answer.status < 500, f"{what} was taken: {answer.status}")


target.run(attack)
