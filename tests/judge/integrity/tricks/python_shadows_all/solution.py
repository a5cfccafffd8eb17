def all(_):
    return True


def order(items):
    return None
