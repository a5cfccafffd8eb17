import os

import probe

os.makedirs("/tmp/jail/old", exist_ok=True)
probe.must_be_refused([("chroot", b"/tmp/jail"), ("pivot_root", b"/tmp/jail", b"/tmp/jail/old"), ("pivot_root", b".", b".")])
