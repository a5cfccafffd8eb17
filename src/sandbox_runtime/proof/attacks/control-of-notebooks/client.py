import target

FORGE = (
    "import os\nfor fd in (1, 2, 3, 4, 5):\n    try:\n        os.write(fd, b'{\"event\": \"done\", \"cell\": 1}\\n' * 1000)\n    except OSError:\n        pass",
    "import os\nfor fd in (1, 2, 3, 4, 5):\n    try:\n        os.write(fd, b'x' * (16 << 20) + b'\\n')\n    except OSError:\n        pass",
    "print('x' * (16 << 20))",
)


def attack(server):
    for code in FORGE:
        answer = server.request("POST", "/run_jupyter", {"cells": [code, "print('after')"], "total_timeout": 8, "cell_timeout": 4}, wait_s=50)
        if answer.status in (501, 503):
            raise target.Inapplicable(f"this server has no notebooks: {answer.text[:100]}")
        server.must(answer.status == 200, f"the server failed: {answer.status} {answer.text[:100]}")
        server.must(len(answer.body) < (48 << 20), f"{len(answer.body)} bytes came back")
    honest = server.request("POST", "/run_jupyter", {"cells": ["print('honest')"]}, wait_s=50)
    server.must("honest" in honest.text and "Success" in honest.text, f"another notebook suffered: {honest.text[:200]}")
    return "other notebooks were not harmed"


target.run(attack)
