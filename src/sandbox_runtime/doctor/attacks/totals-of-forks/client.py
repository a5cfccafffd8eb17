import target


def attack(server):
    session = server.session()
    for count in (0, -1, 65, 999, 10**9, 10**30):
        answer = server.request("POST", f"{target.SESSIONS}/{session}/fork", {"count": count}, wait_s=60)
        if answer.status == 201:
            for made in answer.json()["sessions"]:
                server.delete_later(made["id"])
        server.must(answer.status in (400, 422, 429, 507), f"{count} forks: {answer.status}")
    return "no number of forks beyond the limit was taken"


target.run(attack)
