import target

TEMPLATE = {"id": "attack-template", "name": "attack", "image": "x", "image_url": "x", "base_image": "x", "language": "python"}


def attack(server):
    tries = [
        ("POST", "/api/v1/templates", TEMPLATE),
        ("PUT", "/api/v1/templates/python-basic", {"name": "changed"}),
        ("DELETE", "/api/v1/templates/python-basic", None),
        ("POST", "/api/v1/health/sync", None),
        ("GET", "/api/v1/audit?owner=attack-other", None),
    ]
    for method, path, body in tries[:4]:
        answer = server.request(method, path, body)
        server.must(answer.status in (401, 403, 404, 405, 422), f"a plain key did {method} {path}: {answer.status}")
    kept = server.request("GET", "/api/v1/templates/python-basic")
    server.must(kept.status == 200 and kept.json().get("name") != "changed", f"the template was changed: {kept.text[:100]}")
    return "what all owners share stayed as it is"


target.run(attack)
