import urllib.parse

import target

NAMES = (
    "a\r\nX-Evil: 1",
    'a"; filename="evil.sh',
    "a\nSet-Cookie: evil=1",
    "a\u2028b",
    "\u202egnp.exe",
    "<script>alert(1)</script>.html",
)


def attack(server):
    session = server.session()
    for name in NAMES:
        made = server.execute(session, f"open({name.replace('/', '_')!r}, 'w').write('<script>')")
        server.must(bool(made), "the file was not made")
        quoted = urllib.parse.quote(name.replace("/", "_"))
        for path in (f"{target.SESSIONS}/{session}/files/{quoted}", f"/workspace/se/download/{session}/{quoted}"):
            answer = server.request("GET", path)
            server.must("x-evil" not in answer.headers and "set-cookie" not in answer.headers, f"{name!r} wrote a header")
            shown = answer.headers.get("content-type", "")
            server.must(
                answer.status != 200
                or not shown.startswith("text/html")
                or "attachment" in str(answer.headers.get("content-disposition")),
                f"{name!r} was served as a page",
            )
            server.must(answer.status < 500, f"{name!r}: {answer.status}")
    return "no name wrote a header"


target.run(attack)
