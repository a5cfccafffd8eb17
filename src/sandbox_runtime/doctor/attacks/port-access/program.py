import probe

probe.must_be_refused([("iopl", 3), ("ioperm", 0x70, 2, 1), ("modify_ldt", 0, bytes(16), 16)])
