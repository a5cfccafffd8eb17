import os

import probe

os.umask(0)
queue = probe.call("mq_open", b"meeting-place", os.O_RDWR | os.O_CREAT, 0o666, None)
probe.ready(str(queue))
probe.wait_for_other()
probe.call("mq_unlink", b"meeting-place")
