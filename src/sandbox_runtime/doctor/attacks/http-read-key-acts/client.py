import target


def attack(server):
    session = server.any_session()
    own = f"{target.SESSIONS}/{session}"
    tries = [
        ("POST", target.SESSIONS, {"template_id": "python-basic"}),
        ("POST", f"{own}/execute", {"code": "1", "language": "python"}),
        ("PUT", f"{own}/files/planted", b"planted"),
        ("POST", f"{own}/contexts", None),
        ("POST", f"{own}/fork", {"count": 1}),
        ("POST", "/run_code", {"code": "print(1)", "language": "python"}),
        ("POST", "/v2/execute_code", {"code": "print(1)", "language": "python"}),
        ("POST", "/api/v2/sandboxes", {}),
        ("PATCH", f"/api/v2/sandboxes/{session}", {}),
        ("DELETE", own, None),
        ("delete", own, None),
        ("Post", target.SESSIONS, {"template_id": "python-basic"}),
    ]
    for method, path, body in tries:
        answer = server.request(method, path, body, key="read")
        server.must(answer.status in (400, 403, 405), f"a key that may only look did {method} {path}: {answer.status}")
    server.must(server.request("GET", "/api/v1/templates", key="read").status == 200, "a key that may look could not")
    return f"{len(tries)} acts were refused"


target.run(attack)
