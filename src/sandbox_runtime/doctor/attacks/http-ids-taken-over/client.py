import secrets

import target


def attack(server):
    server.session()
    name = f"attack-{secrets.token_hex(8)}"
    answer = server.request("POST", target.SESSIONS, {"template_id": "python-basic", "id": name})
    server.must(answer.status == 201, f"the session was not made: {answer.text[:100]}")
    server.delete_later(name)
    server.execute(name, "open('secret.txt', 'w').write('the secret')")
    for path, body in (
        (target.SESSIONS, {"template_id": "python-basic", "id": name}),
        (f"/workspace/se/session/{name}", {}),
        (f"/workspace/se/create/{name}", {}),
        ("/runtime/sessions", {"session_id": name, "template_id": "python-basic"}),
    ):
        server.request("POST", path, body, key="other")
        seen = server.request("GET", f"{target.SESSIONS}/{name}/files/secret.txt", key="other")
        server.must(seen.status >= 400, f"after POST {path} another owner sees the file: {seen.status}")
    kept = server.request("GET", f"{target.SESSIONS}/{name}/files/secret.txt")
    server.must(kept.body == b"the secret", f"the session was taken over or lost: {kept.status}")
    return "the session stayed its owner's"


target.run(attack)
