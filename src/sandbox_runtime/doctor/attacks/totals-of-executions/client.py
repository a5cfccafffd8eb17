import target

MOST = 60


def attack(server):
    session = server.session()
    path = f"/api/v1/executions/sessions/{session}/execute"
    statuses = []
    for _ in range(MOST):
        answer = server.request("POST", path, {"code": "import time; time.sleep(30)", "language": "python", "timeout": 40})
        statuses.append(answer.status)
        if answer.status != 201:
            break
    server.must(statuses[-1] in (429, 503, 507), f"{len(statuses)} executions were taken, the last with {statuses[-1]}")
    server.must(server.ping_s() < 5.0, "other clients had to wait")
    return f"refused after {len(statuses) - 1}"


target.run(attack)
