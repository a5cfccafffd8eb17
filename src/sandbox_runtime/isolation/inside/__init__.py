"""What runs on the far side: the spawner, and the processes of each box up to the moment one becomes the guest's program.

Theory of operation. Each process has less right than the one before:

    server ──exec──▶ gate ──fork──▶ spawner ──┬─clone─▶ first process, which only holds the pid namespace   ┐ a box for
                                              ├─fork──▶ runner ──▶ the guest's program                      ┘ one command
                                              └─fork──▶ init (pid 1) ──fork──▶ runner ──▶ the guest's program, many times over

- gate: started clean by execve with a socket and nothing else. As a plain user it enters a user namespace; then it makes a pid
  namespace and waits. When the server's end of the socket closes, for whatever reason, it kills the spawner, and the kernel
  kills everything that descends from it.
- spawner: single-threaded, pid 1 of that namespace, in a mount namespace pivoted onto a read-only root, its interpreter warmed
  with the modules of one preset. It reads requests to open boxes and forks. No guest data ever passes through it, so no
  box can find another's data in the memory it was forked with. Of boxes for one command it is the parent: when the
  program has ended, it kills the first process, and with that everyone left, and tells the server how the program ended.
- init: only in boxes for many commands. Takes on the layers of the box in order (namespaces, mounts, network, user,
  capabilities), forks a runner for each command, ends and reaps what each leaves behind, and reports. Not dumpable, without
  rights; it hears only the server.
- runner: in a box for one command it takes on the layers itself. Then it stands by with limits and seccomp filter on, waits for
  one order (argv, environment, limits and three descriptors), closes all else and becomes the program: by execve, or, when
  that is the warm interpreter's own `python FILE`, by running the file in place.

Two sockets join the server to each box: `orders` (the runner's) and `reports` (init's, or the spawner's in its stead). Messages
are single packets, descriptors ride along; system calls that the filter refuses are answered and counted by the server. Standard
library only; runs under the guest's interpreter.
"""
