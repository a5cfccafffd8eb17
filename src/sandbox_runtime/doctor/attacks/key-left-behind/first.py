import probe

for ring in (-3, -4, -5):
    probe.call("add_key", b"user", b"left-behind", b"text", 4, ring)
probe.ready()
