assert count("aab") == {"a": 2, "b": 1}
assert count("aab")["a"] == 2
assert count("aab").get("c", 0) == 0
