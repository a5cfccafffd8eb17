import os

import probe

os.symlink(probe.facts()["secret_file"], "notes")
probe.held("the link is laid")
