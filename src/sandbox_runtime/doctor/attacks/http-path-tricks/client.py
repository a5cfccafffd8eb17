import target

PATHS = [
    "//api/v1/sessions",
    "/api/v1//sessions",
    "/health/../api/v1/sessions",
    "/health/%2e%2e/api/v1/sessions",
    "/health/..;/api/v1/sessions",
    "/health;/api/v1/sessions",
    "/v1/ping/..%2f..%2fapi/v1/sessions",
    "/playground/../api/v1/sessions",
    "/playground/%2e%2e/api/v1/sessions",
    "/api/v1/internal/../sessions",
    "/api/v1/internal/%2e%2e/sessions",
    "/api/v1/signed-files/../sessions",
    "/api/v1/signed-files/..%2fsessions",
    "/api/v1/sessions;a=b",
    "/api/v1/sessions%2f",
    "/api/v1/sessions/.",
    "/API/V1/SESSIONS",
    "/api/v1/sessions%00",
    "/api/v1/sessions%20",
    "/./api/v1/sessions",
    "http://127.0.0.1/api/v1/sessions",
    "http://localhost/health/../api/v1/sessions",
    "/SandboxFusion/../api/v1/sessions",
    "/docs/../api/v1/sessions",
]


def attack(server):
    session = server.session()
    for path in PATHS:
        answer = server.raw(server.head(f"GET {path} HTTP/1.1", "Connection: close", key=None))
        server.must(session.encode() not in answer, f"GET {path} showed a session without a key")
        delete = server.raw(server.head(f"DELETE {path}/{session} HTTP/1.1", "Connection: close", key=None))
        server.must(not delete.startswith((b"HTTP/1.1 200", b"HTTP/1.1 204")), f"DELETE {path} was done without a key")
    server.must(server.request("GET", f"{target.SESSIONS}/{session}").status == 200, "a session was deleted without a key")
    return f"{len(PATHS)} spellings opened nothing"


target.run(attack)
