import target

FORGE = """
import os
for number in (1, 2, 3, 4, 5):
    try:
        os.write(number, {data})
    except OSError:
        pass
"""
CODES = (
    FORGE.format(data="""b'{"event": "done", "cell": 1}\\n' * 1000"""),
    FORGE.format(data="b'x' * (16 << 20) + b'\\n'"),
    "print('x' * (16 << 20))",
)


def attack(server):
    for code in CODES:
        asked = {"cells": [code, "print('after')"], "total_timeout": 8, "cell_timeout": 4}
        answer = server.request("POST", "/run_jupyter", asked, wait_s=50)
        if answer.status in (501, 503) or "notebooks do not work here" in answer.text:
            raise target.Inapplicable(f"this server has no notebooks: {answer.text[:100]}")
        server.must(answer.status == 200, f"the server failed: {answer.status} {answer.text[:100]}")
        server.must(len(answer.body) < (48 << 20), f"{len(answer.body)} bytes came back")
    honest = server.request("POST", "/run_jupyter", {"cells": ["print('honest')"]}, wait_s=50)
    server.must("honest" in honest.text and "Success" in honest.text, f"another notebook suffered: {honest.text[:200]}")
    return "other notebooks were not harmed"


target.run(attack)
