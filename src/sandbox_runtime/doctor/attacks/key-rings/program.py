import probe

SESSION, USER, USER_SESSION = -3, -4, -5
probe.must_be_refused(
    [
        ("keyctl", 0, SESSION, 1, 0, 0),
        ("keyctl", 0, USER, 1, 0, 0),
        ("add_key", b"user", b"planted", b"text", 4, SESSION),
        ("add_key", b"user", b"planted", b"text", 4, USER_SESSION),
        ("request_key", b"user", b"planted", None, 0),
    ]
)
