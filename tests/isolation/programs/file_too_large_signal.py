#: {"file_bytes": 1000}
with open("big", "wb") as file:
    file.write(b"x" * 2000)
