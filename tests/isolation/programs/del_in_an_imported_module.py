from pathlib import Path

Path("second.py").write_text(
    "class Noisy:\n"
    "    def __init__(self, name): self.name = name\n"
    "    def __del__(self): print('del', self.name)\n"
    "here = Noisy('in second')\n"
)
import second  # noqa: E402

mine = second.Noisy("in main")
print("end of main")
