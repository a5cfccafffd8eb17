import os
import socket

import probe

if os.uname().nodename == probe.facts()["host_name"] != "sandbox":
    probe.escaped("the name of the host is known")
probe.must_fail("the name was changed", socket.sethostname, "mine")
probe.held("it has a name of its own and cannot change it")
