import re

import target


def attack(server):
    session = server.session()
    missing = session[:-1] + ("0" if session[-1] != "0" else "1")
    tries = [
        ("GET", "/api/v1/sessions/{}", None),
        ("DELETE", "/api/v1/sessions/{}", None),
        ("GET", "/api/v1/sessions/{}/files", None),
        ("POST", "/api/v1/sessions/{}/execute", {"code": "1", "language": "python"}),
        ("POST", "/api/v1/sessions/{}/contexts", None),
        ("POST", "/api/v1/sessions/{}/fork", {"count": 1}),
        ("GET", "/api/v2/sandboxes/{}", None),
    ]
    for method, path, body in tries:
        of_other = server.request(method, path.format(session), body, key="other")
        of_nobody = server.request(method, path.format(missing), body, key="other")
        server.must(
            of_other.status == of_nobody.status, f"{method} {path}: {of_other.status}, not {of_nobody.status} as for nothing"
        )
        words, usual = _words(of_other.text, session), _words(of_nobody.text, missing)
        server.must(words == usual, f"{method} {path}: the answers differ: {words[:120]}, not {usual[:120]}")
    # Whoever asks there chooses the names, so that one is taken cannot be hidden; who has it can.
    taken = server.request("GET", f"/workspace/se/status/{session}", key="other")
    told = taken.status >= 500 or "attack-own" in taken.text or "belongs" in taken.text
    server.must(not told, f"GET /workspace/se/status told whose the name is: {taken.status} {taken.text[:100]}")
    return f"{len(tries)} answers are the same as for things that do not exist"


def _words(text, name):
    """Without the name itself, times and the numbers of requests."""
    return re.sub(r"[0-9a-fA-F:.TZ-]{6,}|[0-9]+", "#", text.replace(name, "NAME"))


target.run(attack)
