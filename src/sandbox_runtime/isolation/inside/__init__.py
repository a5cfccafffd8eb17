"""What runs on the far side: the spawner, the init of each box, and the runner that becomes the guest's program.

Theory of operation. Five kinds of process, each with less right than the one before:

    server ──exec──▶ gate ──fork──▶ spawner ──fork──▶ init (pid 1 of a box) ──fork──▶ runner ──▶ the guest's program

- gate: started clean by execve with a socket and nothing else. As a plain user it enters a user namespace; then it makes a pid
  namespace and waits. When the server's end of the socket closes, for whatever reason, it kills the spawner, and the kernel
  kills everything that descends from it.
- spawner: single-threaded, pid 1 of that namespace, in a mount namespace pivoted onto a read-only root, its interpreter warmed
  with the modules of one preset. It reads requests to open boxes and forks. No guest data ever passes through it, so no
  box can find another's data in the memory it was forked with.
- init: takes on the layers of one box in order (namespaces, mounts, network, user, capabilities), reports ready, forks a
  runner, ends and reaps processes, counts denied system calls. Not dumpable, without rights; it hears only the server.
- runner: waits inside all namespaces for one order (argv, environment, limits and three descriptors), takes on the last layers
  (limits, seccomp, closed descriptors) and becomes the program: by execve, or, when it is the warm interpreter's own
  `python FILE`, by running the file in place.

Two sockets join the server to each box: `orders` (read by the runner) and `reports` (init's). Messages are JSON in single
packets, descriptors ride along. Standard library only; runs under the guest's interpreter.
"""
