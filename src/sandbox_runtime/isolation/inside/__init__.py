"""What runs on the far side: the spawner, and the processes of each box up to the moment one becomes the guest's program.

Theory of operation. Each process has less right than the one before:

    server ──exec──▶ gate ──fork──▶ spawner ──┬─clone─▶ first process, which only holds the pid namespace   ┐ a box for
                                              ├─fork──▶ runner ──▶ the guest's program                      ┘ one command
                                              └─fork──▶ init (pid 1) ──fork──▶ runner ──▶ the guest's program, many times over

- gate: started clean by execve with a socket and nothing else. As a plain user it enters a user namespace, the one of all
  spawners (see below); then it makes a pid namespace and waits. When the server's end of the socket closes, for whatever
  reason, it kills the spawner, and the kernel kills everything that descends from it.
- spawner: single-threaded, pid 1 of that namespace, in a mount namespace pivoted onto a read-only root, its interpreter warmed
  with the modules of one preset. It reads requests to open boxes and forks. No guest data ever passes through it, so no
  box can find another's data in the memory it was forked with. Of boxes for one command it is the parent: when the
  program has ended, it kills the first process, and with that everyone left, and tells the server how the program ended.
  Its very first box runs a sample of ours, to learn which pages of memory programs write to (warm_pages.py).
- init: only in boxes for many commands. Takes on the layers of the box in order (namespaces, mounts, network, user,
  capabilities), forks a runner for each command, ends and reaps what each leaves behind, and reports. Not dumpable, without
  rights; it hears only the server.
- runner: in a box for one command it takes on the layers itself. Then it stands by with limits and seccomp filter on, waits for
  one order (argv, environment, limits and three descriptors), closes all else and becomes the program: by execve, or, when
  that is the warm interpreter's own `python FILE`, by running the file in place.

A plain user's spawners share one user namespace, because a box of any of them may be asked to see files that another one made:
whoever enters a mount namespace needs rights in the user namespace that owns it. The first gate makes it; its spawner hands the
server a descriptor of it, which keeps it alive whatever becomes of that spawner; later gates get the descriptor with their
configuration and enter before they do anything else, which the kernel allows to the user who made it. What a box can reach does
not grow by that: boxes of one spawner have always had the same owner above them, each box still goes into a user namespace of its
own below it, without rights and without a way back, and sees no process and no mount but its own. Spawners of boxes that lack a
layer, as proofs open them, stay apart: such a box may keep rights over the user namespace that it was forked in.

Two sockets join the server to each box: `orders` (the runner's) and `reports` (init's, or the spawner's in its stead). Messages
are single packets, descriptors ride along; system calls that the filter refuses are answered and counted by the server. Standard
library only; runs under the guest's interpreter.
"""
