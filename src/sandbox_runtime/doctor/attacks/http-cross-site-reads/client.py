import target


def attack(server):
    keyless = server.keyless()
    marks = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    for method, path in (
        ("POST", "/run_code"),
        ("POST", target.SESSIONS),
        ("GET", "/workspace/se/files/attack-cross-site"),
        ("GET", "/workspace/se/status/attack-cross-site"),
        ("GET", "/api/v1/sessions"),
    ):
        body = {"template_id": "python-basic", "code": "print(1)", "language": "python"} if method == "POST" else None
        answer = keyless.request(method, path, body, headers=marks)
        server.must(answer.status in (403, 404, 405), f"another site did {method} {path}: {answer.status}")
    known = keyless.request("GET", target.SESSIONS)
    server.must("attack-cross-site" not in known.text, "another site made a session by a GET")
    return "requests that other sites cause did nothing"


target.run(attack)
