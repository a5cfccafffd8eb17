import base64

import target


def attack(server):
    session = server.session()
    server.request("PUT", f"{target.SESSIONS}/{session}/files/secret.txt", b"the secret", headers={"Content-Type": "text/plain"})
    forged = [
        "x",
        "..%2f..%2fetc%2fpasswd",
        base64.urlsafe_b64encode(b'{"session":"%s","path":"secret.txt","expires":9999999999}' % session.encode()).decode(),
        f"{session}.secret.txt.9999999999.x",
        "." * 3,
        "a" * 5000,
        "eyJhbGciOiJub25lIn0.eyJzZXNzaW9uIjoieCJ9.",
    ]
    for token in forged:
        answer = server.request("GET", f"/api/v1/signed-files/{token}", key=None)
        server.must(answer.status in (400, 401, 403, 404, 410, 414, 422), f"the forged link {token[:40]!r} gave {answer.status}")
        server.must(b"the secret" not in answer.body, f"the forged link {token[:40]!r} gave the file")
    return f"{len(forged)} forged links gave nothing"


target.run(attack)
