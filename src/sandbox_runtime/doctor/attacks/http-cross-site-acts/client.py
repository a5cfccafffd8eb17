import target

ORIGINS = (
    "https://evil.example",
    "null",
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example",
    "file://",
    "http://evil.example:80",
)
KINDS = ("application/json", "text/plain", "application/x-www-form-urlencoded")


def attack(server):
    keyless = server.keyless()
    job = {"code": "print(1)", "language": "python"}
    for origin in ORIGINS:
        for kind in KINDS:
            answer = keyless.request("POST", "/run_code", job, headers={"Origin": origin, "Content-Type": kind})
            server.must(answer.status >= 400, f"a page of {origin} ran code: {answer.status}")
        for path in ("/workspace/se/cleanup-all", target.SESSIONS):
            answer = keyless.request("POST", path, {"template_id": "python-basic"}, headers={"Origin": origin})
            server.must(answer.status == 403, f"a page of {origin} did POST {path}: {answer.status}")
    return f"{len(ORIGINS)} other sites were refused"


target.run(attack)
