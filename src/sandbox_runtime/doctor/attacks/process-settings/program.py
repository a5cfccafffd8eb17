import probe

SET_MM, SET_IO_FLUSHER, SCHED_CORE, MCE_KILL = 35, 57, 62, 33
probe.must_be_refused(
    [
        ("prctl", SET_MM, 1, 0, 0, 0),
        ("prctl", SET_IO_FLUSHER, 1, 0, 0, 0),
        ("prctl", SCHED_CORE, 1, 0, 0, 0),
        ("prctl", MCE_KILL, 1, 0, 0, 0),
    ]
)
