import sys

sys.stdout = open("/dev/full", "w")  # noqa: SIM115
print("does not fit")
