import probe

probe.ready()
probe.wait_for_other()
