import gc
import sys

print([name for name in sys.modules if "sandbox" in name or "start" in name])
print([entry for entry in sys.path if "sandbox" in entry or "src" in entry])
print([key for key in sys.path_importer_cache if "sandbox" in key])
print([thing for thing in gc.get_objects() if isinstance(thing, dict) and "sandbox" in str(thing.get("__name__", ""))])
