import subprocess
import sys


def order(items):
    subprocess.run([sys.executable, "-c", "raise SystemExit(0)"], check=True)
    return sorted(items)
