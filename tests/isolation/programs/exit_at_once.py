import os
import sys

sys.stdout.write("lost, it was only buffered")
sys.stderr.write("kept, stderr writes through\n")
os._exit(9)
