import runpy
from pathlib import Path

Path("other.py").write_text("import sys\nprint(__name__, __file__, sys.argv)\nresult = 1\n")
print(runpy.run_path("other.py")["result"])
print(runpy.run_path("other.py", run_name="__main__")["__name__"])
runpy.run_module("other", alter_sys=True)
names = {}
exec(compile("def made(): return __name__", "<made>", "exec"), names)
print(sorted(names))
exec("value = [x for x in range(3)]")
print(value)  # noqa: F821
exec(compile("1/0", "made.py", "exec"))
