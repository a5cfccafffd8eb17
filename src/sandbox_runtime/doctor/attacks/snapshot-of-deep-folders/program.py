import os

import probe

here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
for _ in range(400):
    os.mkdir("d", dir_fd=here)
    here = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here))
probe.ready()
probe.wait_for_other()
probe.held("the folders were handled")
