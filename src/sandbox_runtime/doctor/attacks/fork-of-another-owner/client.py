import target


def attack(server):
    session = server.session()
    context = server.context(session)
    server.cell(context, "secret = 'the secret'")
    forks = server.fork(session)
    answer = server.request("POST", f"{target.SESSIONS}/{session}/fork", {"count": 1}, key="other")
    server.must(answer.status == 404, f"another owner forked the session: {answer.status}")
    for path in (context, *(inside for _, inside in forks)):
        answer = server.request("POST", f"{path}/execute", {"code": "print(secret)"}, key="other")
        server.must(answer.status == 404 and "the secret" not in answer.text, f"another owner used a context: {answer.status}")
    return "forks stay their owner's"


target.run(attack)
