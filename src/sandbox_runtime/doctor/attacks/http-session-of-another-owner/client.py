import target


def attack(server):
    session = server.session()
    server.request("PUT", f"{target.SESSIONS}/{session}/files/secret.txt", b"the secret", headers={"Content-Type": "text/plain"})
    own = f"{target.SESSIONS}/{session}"
    tries = [
        ("GET", own, None),
        ("POST", f"{own}/execute", {"code": "print(open('secret.txt').read())", "language": "python"}),
        ("POST", f"/api/v1/executions/sessions/{session}/execute-sync", {"code": "print(1)", "language": "python"}),
        ("POST", f"/api/v1/executions/sessions/{session}/execute", {"code": "print(1)", "language": "python"}),
        ("GET", f"{own}/files", None),
        ("GET", f"{own}/files/secret.txt", None),
        ("PUT", f"{own}/files/secret.txt", b"changed"),
        ("DELETE", f"{own}/files/secret.txt", None),
        ("POST", f"{own}/files/move", {"source": "secret.txt", "target": "gone.txt"}),
        ("GET", f"{own}/archive", None),
        ("GET", f"{own}/executions", None),
        ("POST", f"{own}/contexts", None),
        ("GET", f"{own}/contexts", None),
        ("POST", f"{own}/fork", {"count": 1}),
        ("POST", f"{own}/pause", None),
        ("POST", f"{own}/terminal", {}),
        ("POST", f"{own}/dependencies/install", {"dependencies": ["x"]}),
        ("POST", f"/runtime/sessions/{session}/execute", {"code": "print(1)", "language": "python"}),
        ("GET", f"/runtime/sessions/{session}/status", None),
        ("GET", f"/api/v2/sandboxes/{session}", None),
        ("POST", f"/api/v2/sandboxes/{session}/exec", {"command": "id"}),
        ("GET", f"/workspace/se/files/{session}", None),
        ("GET", f"/workspace/se/readfile/{session}/secret.txt", None),
        ("POST", f"{own}/terminate", None),
        ("DELETE", own, None),
    ]
    for method, path, body in tries:
        answer = server.request(method, path, body, key="other")
        server.must(answer.status >= 400, f"{method} {path.replace(session, 'ID')} of another owner: {answer.status}")
        server.must(b"the secret" not in answer.body, f"{method} {path.replace(session, 'ID')} told another owner's secret")
    kept = server.request("GET", f"{own}/files/secret.txt")
    server.must(kept.body == b"the secret", f"the file of another owner was changed: {kept.status} {kept.body[:60]!r}")
    return f"{len(tries)} requests with another owner's id were refused"


target.run(attack)
