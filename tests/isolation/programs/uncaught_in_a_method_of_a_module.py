import json

print("before")
json.loads("{bad json}")
