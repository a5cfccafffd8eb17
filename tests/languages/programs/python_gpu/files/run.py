import shutil

shutil.copyfile("input.txt", "output.txt")
