import os

import probe

os.symlink(probe.facts()["secret_file"], "planted")
probe.held("the link is laid")
