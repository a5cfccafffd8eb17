Same = type("ValueError", (Exception,), {"__module__": "builtins"})


def root(x):
    raise Same("negative")
