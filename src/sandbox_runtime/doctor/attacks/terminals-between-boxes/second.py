import os

import probe

probe.must_fail("the terminal of the other box is here", os.open, probe.facts()["first"], os.O_RDWR | os.O_NOCTTY)
probe.held("no terminal of another is here")
