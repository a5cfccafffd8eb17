import probe

MS_REMOUNT_BIND = 32 | 4096
probe.must_be_refused(
    [
        ("mount", b"none", b"/tmp", b"tmpfs", 0, None),
        ("mount", b"/", b"/mnt", None, 4096, None),
        ("mount", b"none", b"/", None, MS_REMOUNT_BIND, None),
        ("mount", b"proc", b"/mnt", b"proc", 0, None),
        ("mount", b"sysfs", b"/mnt", b"sysfs", 0, None),
        ("umount2", b"/proc/keys", 2),
        ("umount2", b"/tmp", 2),
        ("fsopen", b"tmpfs", 0),
        ("open_tree", -100, b"/", 1),
        ("move_mount", -100, b"/tmp", -100, b"/mnt", 0),
        ("mount_setattr", -100, b"/usr", 0, None, 0),
        ("fspick", -100, b"/", 0),
    ]
)
