import target


def attack(server):
    key = server.keys["own"]
    wrong = [
        {"Authorization": "Bearer " + "x" * len(key)},
        {"Authorization": f"Bearer {key[:-1]}"},
        {"Authorization": f"Bearer {key}x"},
        {"Authorization": f"Bearer {key.swapcase()}"},
        {"Authorization": f"Bearer {key},{key}"},
        {"Authorization": f"Basic {key}"},
        {"Authorization": key},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer null"},
        {"X-API-Key": ""},
        {"X-API-Key": "x" * 5000},
        {"X-API-Key": "\u00ff" * 40},
        {"X-API-Key": "' OR '1'='1"},
        {"Cookie": f"api_key={key}; Authorization={key}"},
        {"X-Auth-Token": key},
    ]
    for headers in wrong:
        answer = server.request("GET", target.SESSIONS, key=None, headers=headers)
        server.must(answer.status == 401, f"{sorted(headers)} opened {target.SESSIONS}: {answer.status}")
    for query in ("api_key", "key", "token", "access_token"):
        answer = server.request("GET", f"{target.SESSIONS}?{query}={key}", key=None)
        server.must(answer.status == 401, f"a key as {query} in the address was taken: {answer.status}")
    return f"{len(wrong)} wrong keys were refused"


target.run(attack)
