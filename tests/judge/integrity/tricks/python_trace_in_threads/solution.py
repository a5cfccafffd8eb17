import threading

threading.setprofile(lambda *_: None)


def order(items):
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()
    return sorted(items)
