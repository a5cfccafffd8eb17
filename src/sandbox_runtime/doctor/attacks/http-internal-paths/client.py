import target

CALLS = [
    ("/api/v1/internal/containers/ready", {"container_id": "x", "session_id": "x"}),
    ("/api/v1/internal/sessions/x/container_ready", {}),
    ("/api/v1/internal/containers/exited", {"container_id": "x", "exit_code": 0}),
    ("/api/v1/internal/executions/x/result", {"status": "completed", "stdout": "forged", "exit_code": 0}),
    ("/api/v1/internal/executions/x/heartbeat", {}),
    ("/internal/executions/x/result", {"status": "completed"}),
]


def attack(server):
    session = server.session()
    told = server.execute(session, "print('real')")
    calls = [(path.replace("/x/", f"/{told['id']}/"), body) for path, body in CALLS]
    for path, body in calls:
        for key, token in ((None, ""), (None, "x"), ("own", ""), (None, "null")):
            headers = {"Authorization": f"Bearer {token}", "X-Internal-Token": token} if token else {}
            answer = server.request("POST", path, body, key=key, headers=headers)
            server.must(answer.status >= 400, f"{path} was taken without the token: {answer.status}")
    after = server.request("GET", f"/api/v1/executions/{told['id']}/result").json()
    server.must(after.get("stdout", "real\n") == "real\n", f"the result was changed: {after}")
    return "no message without the token was taken"


target.run(attack)
