from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

Pair = namedtuple("Pair", "low high")


def pairs(items):
    return {(a, b) for a in items for b in items if a < b}


def table(items):
    return {(a, b): {"sum": a + b, "both": [a, b], "set": frozenset({a, b})} for a, b in pairs(items)}


def counted(text):
    return Counter(text)


def grouped(words):
    groups = defaultdict(list)
    for word in words:
        groups[len(word)].append(word)
    return groups


def ordered(words):
    return OrderedDict((word, len(word)) for word in words)


def recent(items):
    return deque(items, maxlen=2)


def edges(items):
    return Pair(min(items), max(items))
