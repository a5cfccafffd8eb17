import os

import probe

os.symlink(probe.facts()["folder"], "outside")
probe.held("the link is laid")
