import probe

room = bytes(256)
probe.must_be_refused([("io_uring_setup", 1, room), ("io_uring_enter", 0, 0, 0, 0, 0, 0), ("io_uring_register", 0, 0, None, 0)])
