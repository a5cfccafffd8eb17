import multiprocessing


def same(item):
    return item


def order(items):
    with multiprocessing.Pool(2) as pool:
        return pool.map(same, sorted(items))
