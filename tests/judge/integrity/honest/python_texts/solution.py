def backwards(text):
    return text[::-1]


def names():
    return ["é", "e\u0301", "🙂", "\ud800", "a\x00b", "line\u2028end", "\x1e"]


def spelled(text):
    return {character: ord(character) for character in text}
