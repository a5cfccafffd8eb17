import target

BODIES = [
    b"",
    b"null",
    b"[]",
    b"{",
    b'"text"',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"template_id": NaN}',
    b'{"template_id": "\\ud800"}',
    b'{"template_id": "python-basic", "timeout": 1e400}',
    b'{"code": 1, "language": 2}',
    b'{"code": "\\u0000", "language": "\\u0000"}',
    b'{"template_id": {"a": 1}, "env_vars": [1]}',
    b'{"a": 1}' * 1000,
    b"1" * 100_000,
]


def attack(server):
    session = server.any_session()
    paths = [target.SESSIONS, f"{target.SESSIONS}/{session}/execute", "/run_code", "/run_jupyter", "/submit", "/v2/execute_code"]
    paths += ["/api/v2/sandboxes", "/api/v1/judge/batches", f"{target.SESSIONS}/{session}/fork", "/get_prompts"]
    for path in paths:
        for body in BODIES:
            answer = server.request("POST", path, body)
            server.must(answer.status != 500, f"POST {path} with {body[:30]!r}: 500")
            server.must("Traceback" not in answer.text, f"POST {path} with {body[:30]!r} showed a traceback")
            if answer.status == 201 and path == target.SESSIONS:
                raise target.Escaped(f"a session was made of {body[:30]!r}")
    server.must(server.ping_s() < 5.0, "the server had to think about a body for long")
    return f"{len(BODIES)} bodies were refused on {len(paths)} paths"


target.run(attack)
