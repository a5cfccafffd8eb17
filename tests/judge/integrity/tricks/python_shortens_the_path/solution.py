import sys

sys.path[:] = ["/tmp"]
sys.path_hooks.clear()
sys.path_importer_cache.clear()
sys.meta_path.clear()
for name in list(sys.modules):
    if name not in ("sys", "builtins", "__main__"):
        del sys.modules[name]


def half(x):
    return 0
