import sys

seen = []
sys.addaudithook(lambda event, arguments: seen.append(event) if event == "open" else None)
open("main.py").close()
print(seen)
