import re

import target

OPEN = {"/health", "/v1/ping", "/api/v1/health", "/workspace/se/healthy", "/", "/api/v1/signed-files/{token}"}


def attack(server):
    paths = server.request("GET", "/openapi.json").json().get("paths", {})
    tried = 0
    for path, methods in paths.items():
        if path in OPEN or "/internal/" in path:
            continue
        for method in [name for name in methods if name in ("get", "post", "put", "patch", "delete")]:
            answer = server.request(method.upper(), re.sub(r"\{[^{}]*\}", "x", path), b"{}", key=None)
            server.must(answer.status == 401, f"{method} {path} answered {answer.status} without a key")
            tried += 1
    server.must(tried > 50, f"only {tried} paths are described")
    return f"{tried} paths asked for a key"


target.run(attack)
