#: {"argv": ["one", "two words", "", "ünï"]}
import gc
import os
import sys

print(sys.argv, sys.orig_argv[1:], sys.orig_argv[0] == sys.executable)
print(sys.path)
print(sys.flags, sys.warnoptions, sys._xoptions)
print(sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix)
print(sys.version, sys.byteorder, sys.dont_write_bytecode, sys.pycache_prefix)
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace(), sys.getprofile(), sys.get_asyncgen_hooks())
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks, gc.garbage)
print(os.getcwd(), sys.platlibdir, sys.meta_path, len(sys.path_hooks))
print(sys.displayhook, sys.excepthook, sys.unraisablehook, sys.breakpointhook)
print([hasattr(sys, name) for name in ("last_type", "last_value", "last_traceback", "ps1", "__interactivehook__")])
