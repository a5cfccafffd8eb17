import urllib.parse

import target

IDS = (
    "x" * 5000,
    "%00",
    "%ff%fe",
    "..",
    "' OR 1=1 --",
    "${jndi:ldap://x}",
    "{{7*7}}",
    "%0d%0aX-Evil:1",
    "*",
    "null",
    "-1",
    "\u00e9",
)


def attack(server):
    session = server.any_session()
    tries = [("GET", f"{base}/{urllib.parse.quote(name, safe='%')}", None) for name in IDS for base in BASES]
    tries += [(method, target.SESSIONS, b"{") for method in ("POST", "PUT", "PATCH", "TRACE", "CONNECT", "PROPFIND")]
    tries += [("POST", f"{target.SESSIONS}/{session}/archive", b"no archive"), ("GET", "/no-such-path", None)]
    tries += [("POST", f"{target.SESSIONS}/{session}/files/upload", b"no form"), ("POST", "/run_code", b"\xff")]
    key = server.keys["own"]
    words = [
        word
        for word in ("Traceback", 'File "/', "site-packages", "sqlite", "sandbox_runtime/", key, server.facts["state_dir"])
        if word
    ]
    for method, path, body in tries:
        answer = server.request(
            method,
            path.encode("ascii", "ignore").decode(),
            body,
            headers={"Content-Type": "multipart/form-data"} if body == b"no form" else None,
        )
        found = [word for word in words if word in answer.text]
        server.must(not found, f"{method} {path[:60]} told {found[0] if found else ''}")
        server.must("x-evil" not in answer.headers, f"{method} {path[:60]} wrote a header")
    return f"{len(tries)} errors told nothing"


BASES = (
    "/api/v1/sessions",
    "/api/v1/executions",
    "/api/v1/templates",
    "/api/v2/sandboxes",
    "/workspace/se/status",
    "/api/v1/judge/batches",
)
target.run(attack)
