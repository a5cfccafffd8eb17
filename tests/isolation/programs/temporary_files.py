import os
import tempfile
from pathlib import Path

print(tempfile.gettempdir(), tempfile.gettempprefix(), Path.home(), os.path.expanduser("~sandbox"))
with tempfile.NamedTemporaryFile() as file:
    print(Path(file.name).parent, oct(Path(file.name).stat().st_mode))
