import fcntl
import socket
import struct
import threading

import probe


def serve(listening):
    while True:
        connection, _ = listening.accept()
        connection.sendall(b"neighbour")
        connection.close()


probe.need_network()
listening = socket.create_server(("0.0.0.0", probe.facts()["port"]))
threading.Thread(target=serve, args=(listening,), daemon=True).start()
name = next(name for _, name in socket.if_nameindex() if name != "lo")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    found = fcntl.ioctl(sock, 0x8915, struct.pack("256s", name.encode()))
probe.ready(socket.inet_ntoa(found[20:24]))
probe.wait_for_other()
probe.held("waited")
