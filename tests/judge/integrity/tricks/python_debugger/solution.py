import bdb

seen = []


class Spy(bdb.Bdb):
    def user_line(self, frame):
        seen.append(frame)


def order(items):
    Spy().set_trace()
    return sorted(items)
