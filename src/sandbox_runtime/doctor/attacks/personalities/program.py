import probe

READ_IMPLIES_EXEC, MMAP_PAGE_ZERO, LINUX32 = 0x0400000, 0x0100000, 0x8
probe.must_be_refused([("personality", flag) for flag in (READ_IMPLIES_EXEC, MMAP_PAGE_ZERO, LINUX32)])
