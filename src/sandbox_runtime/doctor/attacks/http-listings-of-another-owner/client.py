import target


def attack(server):
    session = server.session()
    execution = server.execute(session, "print('the secret')")["id"]
    container = server.request("GET", f"{target.SESSIONS}/{session}").json().get("container_id") or session
    paths = [
        target.SESSIONS,
        f"{target.SESSIONS}?limit=200",
        "/api/v1/containers",
        "/api/v1/audit",
        "/api/v2/sandboxes",
        "/workspace/se/workspaces",
        "/api/v1/judge/batches",
        f"/api/v1/executions/sessions/{session}/executions",
        f"/api/v1/executions/{execution}",
        f"/api/v1/executions/{execution}/result",
        f"/api/v1/executions/{execution}/status",
        f"/api/v1/containers/{container}",
        f"/api/v1/containers/{container}/logs",
    ]
    for path in paths:
        answer = server.request("GET", path, key="other")
        named = [word for word in (session, execution, "the secret") if word in answer.text]
        told = [word for word in named if answer.status == 200 or word == "the secret"]
        server.must(not told, f"GET {path} told another owner {told}")
    answer = server.request("POST", f"/api/v1/executions/{execution}/cancel", key="other")
    server.must(answer.status in (403, 404), f"another owner's execution was cancelled: {answer.status}")
    return f"{len(paths)} listings told nothing of another owner"


target.run(attack)
