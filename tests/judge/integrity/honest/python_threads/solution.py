import threading
from concurrent.futures import ThreadPoolExecutor

lock = threading.Lock()


def order(items):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda item: item, sorted(items)))
