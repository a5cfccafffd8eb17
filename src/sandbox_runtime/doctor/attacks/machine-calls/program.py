import probe

# The arguments are wrong on purpose: let through, none of these calls would do anything.
probe.must_be_refused(
    [
        ("kexec_load", 0, 1 << 20, None, 0xFF),
        ("kexec_file_load", -1, -1, 0, None, 0xFF),
        ("init_module", None, 0, b""),
        ("finit_module", -1, b"", 0xFF),
        ("delete_module", b"no-such-module", 0),
        ("reboot", 0, 0, 0, None),
        ("swapon", b"/no/such/place", 0),
        ("swapoff", b"/no/such/place"),
        ("acct", b"/no/such/place"),
        ("syslog", 3, None, 0),
        ("vhangup",),
        ("quotactl", 0, None, 0, None),
    ]
)
