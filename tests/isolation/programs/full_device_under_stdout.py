import os

os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
print("does not fit")
