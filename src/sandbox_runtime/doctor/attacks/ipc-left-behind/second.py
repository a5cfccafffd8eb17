import os

import probe

if any(int(word) < 0 for word in probe.facts()["first"].split()):
    raise SystemExit("the other box could not make any")
if probe.call("shmget", 0x5AFD, 4096, 0o666) >= 0 or probe.call("mq_open", b"left-behind", os.O_RDWR, 0, None) >= 0:
    probe.escaped("what an earlier box left is here")
probe.held("nothing is left")
