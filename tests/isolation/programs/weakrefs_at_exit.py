import tempfile
import weakref
from pathlib import Path


class Thing:
    pass


thing = Thing()
weakref.finalize(thing, print, "finalized at exit")
later = weakref.finalize(thing, print, "not at exit")
later.atexit = False
folder = tempfile.TemporaryDirectory()
print(Path(folder.name).parent)
