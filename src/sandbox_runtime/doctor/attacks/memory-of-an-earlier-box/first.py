import os

import probe

# Written here in a form that the second program can know without holding it.
word = os.urandom(16).hex()
kept = [f"marker:{word}:{number}" for number in range(1000)]
with open("/tmp/marker", "w", encoding="ascii") as file:
    file.writelines(kept)
probe.ready(word[::-1])
