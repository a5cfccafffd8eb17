import target


def attack(server):
    one, other = server.session(), server.session()
    context = server.context(one)
    server.cell(context, "secret = 'the secret'")
    name = context.rpartition("/")[2]
    wrong = f"{target.SESSIONS}/{other}/contexts/{name}"
    for method, path, body in (
        ("POST", f"{wrong}/execute", {"code": "print(secret)"}),
        ("POST", f"{wrong}/restart", None),
        ("POST", f"{wrong}/interrupt", None),
        ("DELETE", wrong, None),
    ):
        answer = server.request(method, path, body)
        server.must(answer.status == 404, f"{method} by another session: {answer.status}")
    server.must(server.cell(context, "print(secret)")["stdout"] == "the secret\n", "the context was changed")
    return "a context is known to its own session alone"


target.run(attack)
