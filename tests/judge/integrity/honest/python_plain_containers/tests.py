assert pairs([1, 2, 3]) == {(1, 2), (1, 3), (2, 3)}
assert table([1, 2]) == {(1, 2): {"sum": 3, "both": [1, 2], "set": frozenset({1, 2})}}
assert counted("aab") == {"a": 2, "b": 1}
assert counted("aab").most_common(1) == [("a", 2)]
assert grouped(["a", "bb", "c"]) == {1: ["a", "c"], 2: ["bb"]}
assert grouped(["a"])[7] == []
assert list(ordered(["bb", "a"])) == ["bb", "a"]
assert list(ordered(["bb", "a"]).items())[0] == ("bb", 2)
assert list(recent([1, 2, 3])) == [2, 3] and recent([1]).maxlen == 2
assert edges([3, 1, 2]) == (1, 3) and edges([3, 1]).high == 3
