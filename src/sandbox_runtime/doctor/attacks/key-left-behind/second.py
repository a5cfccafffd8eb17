import probe

for ring in (-3, -4, -5):
    if probe.call("keyctl", 10, ring, b"user", b"left-behind", 0) >= 0:
        probe.escaped("the key of an earlier box was found")
probe.held("no key was found")
