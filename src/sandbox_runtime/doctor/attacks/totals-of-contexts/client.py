import target

MOST = 40


def attack(server):
    session = server.session()
    for number in range(MOST):
        answer = server.request("POST", f"{target.SESSIONS}/{session}/contexts", wait_s=60)
        if answer.status != 201:
            server.must(answer.status in (429, 507), f"refused with {answer.status}: {answer.text[:100]}")
            return f"refused after {number}"
    raise target.Escaped(f"{MOST} contexts were opened in one session")


target.run(attack)
