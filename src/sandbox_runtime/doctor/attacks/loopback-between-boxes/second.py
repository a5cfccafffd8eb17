import socket

import probe

try:
    socket.create_connection(("127.0.0.1", int(probe.facts()["first"])), timeout=1)
except OSError as error:
    probe.held(str(error.strerror or error))
probe.escaped("the other box answered")
