import os

print("lost, it was only buffered")
os.abort()
