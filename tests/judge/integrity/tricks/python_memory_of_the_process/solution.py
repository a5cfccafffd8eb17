def order(items):
    with open("/proc/self/maps") as maps:
        maps.read()
    return sorted(items)
