assert count("aa") == {"a": 2}
