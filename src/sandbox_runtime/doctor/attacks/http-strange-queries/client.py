import target

VALUES = (
    "-1",
    "0",
    "999999999999999999999999",
    "NaN",
    "1e9",
    "%00",
    "%ff",
    "'%20OR%201=1--",
    "",
    "a" * 5000,
    "1&limit=2",
    "[]",
    "%0d%0aX-Evil:%201",
)
PATHS = ("/api/v1/sessions", "/api/v1/templates", "/api/v1/containers", "/api/v2/sandboxes", "/api/v1/judge/batches")


def attack(server):
    for path in PATHS:
        for name in ("limit", "offset", "page", "page_size", "cursor", "status"):
            for value in VALUES:
                answer = server.request("GET", f"{path}?{name}={value}")
                server.must(answer.status < 500, f"GET {path}?{name}={value[:30]}: {answer.status}")
                server.must("x-evil" not in answer.headers, f"{name}={value} wrote a header")
                server.must("Traceback" not in answer.text, f"{name}={value} showed a traceback")
    return "no query broke the server"


target.run(attack)
