import os

import probe

if int(probe.facts()["first"]) < 0:
    raise SystemExit("the other box could not make one")
result = probe.call("mq_open", b"meeting-place", os.O_RDWR, 0, None)
probe.escaped("the queue of the other box is here") if result >= 0 else probe.held(probe.result_text(result))
