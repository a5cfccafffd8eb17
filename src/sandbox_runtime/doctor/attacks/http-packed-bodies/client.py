import gzip
import json

import target


def attack(server):
    bomb = gzip.compress(json.dumps({"code": "#" + "x" * 50_000_000, "language": "python"}).encode())
    for encoding in ("gzip", "deflate", "br", "gzip, gzip"):
        answer = server.request("POST", "/run_code", bomb, headers={"Content-Encoding": encoding})
        server.must(400 <= answer.status < 500, f"a body packed as {encoding} was taken: {answer.status}")
    return "no packed body was unpacked"


target.run(attack)
