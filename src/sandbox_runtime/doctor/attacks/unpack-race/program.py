import probe

probe.swap_for_links()
