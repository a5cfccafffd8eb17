import socket

import probe

try:
    socket.socket(socket.AF_UNIX).connect("\0meeting-place")
except OSError as error:
    probe.held(str(error.strerror))
probe.escaped("the other box answered")
