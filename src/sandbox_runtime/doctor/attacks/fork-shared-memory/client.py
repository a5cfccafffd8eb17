import target

SHARE = """
import mmap, os
mapped = mmap.mmap(-1, 4096)
made = os.memfd_create('shared'); os.ftruncate(made, 4096)
in_memfd = mmap.mmap(made, 4096)
try:
    open('/dev/shm/shared', 'w').write('a')
    in_shm = True
except OSError:
    in_shm = False
"""
PLANT = """
mapped[:7] = b'planted'; in_memfd[:7] = b'planted'
if in_shm:
    open('/dev/shm/shared', 'w').write('planted')
"""
LOOK = "print(mapped[:7], in_memfd[:7], open('/dev/shm/shared').read() if in_shm else '')"


def attack(server):
    session = server.session()
    context = server.context(session)
    server.must(server.cell(context, SHARE)["status"] == "completed", "memory could not be mapped")
    try:
        ((_, inside),) = server.fork(session)
    except RuntimeError as error:
        return f"a context with shared memory is not forked: {error}"
    server.cell(inside, PLANT)
    said = server.cell(context, LOOK)["stdout"]
    server.must("planted" not in said, f"the origin sees what a fork wrote: {said}")
    return "memory is not shared after a fork"


target.run(attack)
