import target

OPENED = """
import mmap, os
file = open('shared.bin', 'w+b'); file.write(b'a' * 4096); file.flush()
mapped = mmap.mmap(file.fileno(), 4096)
temporary = open('/tmp/shared', 'w+'); temporary.write('a'); temporary.flush()
"""
PLANT = """
mapped[:7] = b'planted'; mapped.flush()
os.pwrite(file.fileno(), b'planted', 100)
temporary.write('planted'); temporary.flush()
open('new.txt', 'w').write('planted')
"""
LOOK = "print(mapped[:], open('shared.bin', 'rb').read(), open('/tmp/shared').read(), os.listdir('.'))"


def attack(server):
    session = server.session()
    context = server.context(session)
    server.must(server.cell(context, OPENED)["status"] == "completed", "the files were not opened")
    ((fork, inside),) = server.fork(session)
    server.cell(inside, PLANT)
    server.execute(fork, "open('later.txt', 'w').write('planted')")
    said = server.cell(context, LOOK)["stdout"]
    server.must(bool(said), "the origin did not answer")
    for word in ("planted", "new.txt", "later.txt"):
        server.must(word not in said, f"the origin sees {word} of a fork")
    return "every fork has files of its own"


target.run(attack)
