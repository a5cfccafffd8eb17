assert backwards("añ🙂") == "🙂ña"
assert names() == ["é", "e\u0301", "🙂", "\ud800", "a\x00b", "line\u2028end", "\x1e"]
assert len(names()[2]) == 1 and len(names()[1]) == 2
assert spelled("aé") == {"a": 97, "é": 233}
