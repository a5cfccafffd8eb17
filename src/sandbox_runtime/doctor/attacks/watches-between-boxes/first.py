import os
import select

import probe

ALL_EVENTS = 0xFFF
watcher = probe.call("inotify_init1", os.O_NONBLOCK)
for path in (b"/usr/bin", b"/usr/bin/env", b"/usr/lib", b"/usr/share", b"/etc", b"/etc/passwd"):
    probe.call("inotify_add_watch", watcher, path, ALL_EVENTS)
probe.ready()
probe.wait_for_other()
seen = bool(select.select([watcher], [], [], 0.05)[0])
probe.escaped("the other box was seen to open files") if seen else probe.held("nothing was seen")
