import signal


def late(signum, frame):
    raise TimeoutError


def order(items):
    kept = signal.signal(signal.SIGALRM, late)
    signal.alarm(30)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, kept)
    return sorted(items)
