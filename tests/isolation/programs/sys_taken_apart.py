import sys

for name in ("exc_info", "path", "argv", "flags", "meta_path"):
    delattr(sys, name)
sys.modules["threading"] = None
print("end of main")
