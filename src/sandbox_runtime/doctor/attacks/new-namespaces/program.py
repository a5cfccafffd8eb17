import probe

FLAGS = {
    "user": 0x10000000, "mount": 0x00020000, "pid": 0x20000000, "network": 0x40000000,
    "ipc": 0x08000000, "uts": 0x04000000, "cgroup": 0x02000000, "time": 0x00000080,
}  # fmt: skip
attempts = [("unshare", flag) for flag in FLAGS.values()]
attempts += [("unshare", FLAGS["user"] | flag) for flag in FLAGS.values()]
probe.must_be_refused(attempts)
