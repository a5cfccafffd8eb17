import gc
import os
import sys

theirs = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, os.getcwd())
print([name for name in sys.modules if name.partition(".")[0] in ("sandbox_runtime", "start")])
print([entry for entry in sys.path if not entry.startswith(theirs)])
print([entry for entry in sys.path_importer_cache if not entry.startswith(theirs)])
print([thing for thing in gc.get_objects() if isinstance(thing, dict) and "sandbox_runtime" in str(thing.get("__name__", ""))])
