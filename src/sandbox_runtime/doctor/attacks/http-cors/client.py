import target


def attack(server):
    keyless = server.keyless()
    for one in (server, keyless):
        for origin in ("https://evil.example", "null"):
            asked = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
            for method, headers in (("OPTIONS", asked), ("GET", {"Origin": origin})):
                answer = one.request(method, target.SESSIONS, key=None, headers=headers)
                allowed = answer.headers.get("access-control-allow-origin", "")
                credentials = answer.headers.get("access-control-allow-credentials", "")
                server.must(credentials != "true", f"{origin} may use the visitor's credentials")
                server.must(one is server or allowed in ("", "http://localhost"), f"{origin} may read a server without keys")
    return "no other site may read with the visitor's rights"


target.run(attack)
