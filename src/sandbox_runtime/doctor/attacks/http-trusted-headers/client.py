import target

CLAIMS = [
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Real-IP", "127.0.0.1"),
    ("Forwarded", "for=127.0.0.1;by=127.0.0.1"),
    ("X-Forwarded-User", "admin"),
    ("X-Remote-User", "admin"),
    ("X-Original-URL", "/health"),
    ("X-Rewrite-URL", "/health"),
    ("X-Forwarded-Host", "localhost"),
    ("X-Forwarded-Prefix", "/health"),
    ("X-Internal-Token", "x"),
    ("X-User-Id", "1"),
]


def attack(server):
    for name, value in CLAIMS:
        answer = server.request("GET", target.SESSIONS, key=None, headers={name: value})
        server.must(answer.status == 401, f"{name}: {value} opened {target.SESSIONS}: {answer.status}")
    return f"{len(CLAIMS)} claims were refused"


target.run(attack)
