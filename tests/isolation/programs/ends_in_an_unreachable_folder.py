import os
import shutil

os.mkdir("folder")
os.chdir("folder")
shutil.rmtree("../folder")
try:
    os.getcwd()
except FileNotFoundError as error:
    print(error)
raise ValueError("told all the same")
