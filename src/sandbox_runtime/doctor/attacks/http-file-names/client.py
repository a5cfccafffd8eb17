import target

NAMES = (
    "..%2f..%2f..%2fetc%2fpasswd",
    "../../../etc/passwd",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%252f..%252fetc%252fpasswd",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "//etc/passwd",
    "..%5c..%5cetc%5cpasswd",
    "a/../../../etc/passwd",
    "%00/etc/passwd",
    "proc/self/environ",
    "%2fproc%2fself%2fenviron",
    "link/passwd",
    "link-to-file",
)


def attack(server):
    session = server.session()
    server.execute(session, "import os\nos.symlink('/etc', 'link')\nos.symlink('/etc/passwd', 'link-to-file')")
    for name in NAMES:
        for path in (
            f"{target.SESSIONS}/{session}/files/{name}",
            f"{target.SESSIONS}/{session}/files/{name}?content=true",
            f"{target.SESSIONS}/{session}/archive?path={name}",
            f"/workspace/se/readfile/{session}/{name}",
            f"/workspace/se/download/{session}/{name}",
            f"/workspace/se/files/preview/{session}/{name}",
            f"/api/v2/sandboxes/{session}/files/{name}",
        ):
            answer = server.request("GET", path)
            server.must(
                b"root:" not in answer.body and b"PATH=" not in answer.body,
                f"GET {path.replace(session, 'ID')} told a file of the host",
            )
            server.must(answer.status < 500, f"GET {path.replace(session, 'ID')}: {answer.status}")
    return f"{len(NAMES)} names led nowhere"


target.run(attack)
