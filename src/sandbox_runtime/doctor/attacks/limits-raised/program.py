import resource

import probe

for name in ("NOFILE", "FSIZE", "CORE", "MEMLOCK", "MSGQUEUE", "SIGPENDING", "RTPRIO", "NICE"):
    number = getattr(resource, f"RLIMIT_{name}")
    hard = resource.getrlimit(number)[1]
    try:
        resource.setrlimit(number, (hard, hard + 1))
    except (OSError, ValueError):
        continue
    probe.escaped(f"the limit {name} of {hard} was raised")
if resource.getrlimit(resource.RLIMIT_NOFILE)[1] > probe.facts()["limits"]["open_files"]:
    probe.escaped("the limits were never set")
probe.held("none can be raised")
