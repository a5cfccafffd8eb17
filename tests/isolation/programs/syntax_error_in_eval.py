compile("x = = 1", "made.py", "exec")
